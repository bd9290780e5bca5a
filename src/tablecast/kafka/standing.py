"""What stands on a topic of ours at this moment."""

from collections.abc import Iterator

from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka import KafkaError as Code

from tablecast.errors import BrokerUnreachable
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import concerns_group, make_consumer, translated
from tablecast.kafka.status import PULSE_KEY, GenerationStatus, decode_status
from tablecast.settings import KafkaSettings

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
    """The last word on each generation that stands on the status topic."""
    statuses: dict[int, GenerationStatus] = {}
    for message in standing(kafka, topic):
        key, value = message.key() or b"", message.value()
        if key == PULSE_KEY:
            continue
        if value is None:
            statuses.pop(int(key), None)
        else:
            statuses[int(key)] = decode_status(value)
    return statuses


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
