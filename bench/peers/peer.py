"""A peer that does the join while messages are sent: what it is, what it was given, and how to watch it."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from confluent_kafka import TopicPartition

from bench.peers.sightings import Sightings
from bench.subject import LAST_BY_USER
from tablecast.kafka.clients import make_consumer
from tablecast.settings import KafkaSettings

ASK_SECONDS = 10.0


@dataclass(frozen=True)
class Peer:
    """One that runs. `settings` is the sentence for the published page: what it was given, and where an arrival is counted."""

    version: str
    settings: str
    watching: Callable[[], AbstractContextManager[Sightings]]
    """To be entered once. When it is, the peer has shown every users row that was there before."""


def newest_user(kafka: KafkaSettings) -> int:
    """The number of the last message of the topic users: who shows that one has read all before it."""
    numbers = newest(kafka)
    if "users" not in numbers:
        raise TimeoutError(f"no last message of the topic users within {ASK_SECONDS:g} s")
    return int(numbers["users"])


def newest(kafka: KafkaSettings) -> dict[str, str]:
    """The number of the last message of each topic that has one; each has one partition."""
    consumer = make_consumer(kafka, {"group.id": "newest", "enable.auto.commit": False})
    try:
        numbers = {}
        for column, topic in LAST_BY_USER.stamps.items():
            end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=ASK_SECONDS)[1]
            consumer.assign([TopicPartition(topic, 0, max(0, end - 1))])
            record = consumer.poll(ASK_SECONDS) if end else None
            if record is not None and record.error() is None:
                numbers[topic] = str(json.loads(record.value() or b"{}")[column])
        return numbers
    finally:
        consumer.close()
