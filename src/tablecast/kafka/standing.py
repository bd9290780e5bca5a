"""What stands on a topic of ours at this moment."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka import KafkaError as Code

from tablecast.errors import BrokerUnreachable
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import concerns_group, make_consumer, translated
from tablecast.kafka.status import COPIED_KEY, Copied, GenerationStatus, decode_copied, decode_status, is_generation
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

READ_SECONDS = 30.0
OWN = {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 50}


def standing(kafka: KafkaSettings, topic: str, role: str = "changelog") -> Iterator[Message]:
    """Every record that can be read now, oldest first within its partition. TopicMissing, TopicForbidden, BrokerUnreachable."""
    topics = Topics(kafka, role)
    ends, begins = topics.end_offsets(topic), topics.begin_offsets(topic)
    left = {partition for partition, end in ends.items() if end > begins[partition]}
    consumer = make_consumer(kafka, {"group.id": topic, **OWN})
    consumer.assign([TopicPartition(topic, partition, begins[partition]) for partition in left])
    try:
        while left:
            message = _polled(consumer, kafka, topic, role)
            partition, offset = message.partition() or 0, message.offset() or 0
            if message.error() is None:
                yield message
            # A transaction ends with a record that nobody sees: only the end of the partition tells that it was the last.
            if offset >= ends[partition] - 1:
                left.discard(partition)
    finally:
        consumer.close()


def standing_statuses(kafka: KafkaSettings, topic: str) -> dict[int, GenerationStatus]:
    """The last word on each generation that stands on the status topic. A record that is none of ours is skipped."""
    return statuses_of(standing(kafka, topic))


def statuses_of(messages: Iterable[Message]) -> dict[int, GenerationStatus]:
    """The same, of records of the status topic, oldest first."""
    statuses: dict[int, GenerationStatus] = {}
    for message in messages:
        key, value = message.key() or b"", message.value()
        if not is_generation(key):
            continue
        try:
            if value is None:
                statuses.pop(int(key), None)
            else:
                statuses[int(key)] = decode_status(value)
        except (ValueError, msgspec.DecodeError) as error:
            log.warning("[kafka] a record of %s with the key %r is not readable and is skipped: %s", message.topic(), key, error)
    return statuses


def copied_of(messages: Iterable[Message]) -> Copied | None:
    """How far the user's control topic is copied, by the records of the status topic, oldest first. What is no such word says nothing."""
    copied = None
    for message in messages:
        if message.key() == COPIED_KEY:
            with suppress(msgspec.DecodeError):
                copied = decode_copied(message.value() or b"")
    return copied


def _polled(consumer: Consumer, kafka: KafkaSettings, topic: str, role: str) -> Message:
    message = consumer.poll(READ_SECONDS)
    while message is not None and concerns_group(message.error()):
        message = consumer.poll(READ_SECONDS)
    if message is None:
        raise BrokerUnreachable(role, kafka.servers, f"no answer from the topic {topic!r} within {READ_SECONDS:g} s")
    error = message.error()
    if error is not None and error.code() != Code._PARTITION_EOF:
        raise translated(error, kafka, role, topic)
    return message
