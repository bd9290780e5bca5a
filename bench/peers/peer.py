"""A peer that does the join while messages are sent: what it is, what it was given, and how to watch it."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from confluent_kafka import TopicPartition

from bench.peers.sightings import Sightings
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
    """The number of the last message of the topic users, which has one partition: who shows that one has read all before it."""
    consumer = make_consumer(kafka, {"group.id": "newest-user", "enable.auto.commit": False})
    try:
        end = consumer.get_watermark_offsets(TopicPartition("users", 0), timeout=ASK_SECONDS)[1]
        consumer.assign([TopicPartition("users", 0, end - 1)])
        record = consumer.poll(ASK_SECONDS)
        if record is None or record.error() is not None:
            raise TimeoutError(f"no last message of the topic users, which ends at offset {end}, within {ASK_SECONDS:g} s")
        return int(json.loads(record.value() or b"")["name"])
    finally:
        consumer.close()
