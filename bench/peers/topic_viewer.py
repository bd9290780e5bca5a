"""Watches the topic to which a streaming engine writes its rows."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from confluent_kafka import Consumer, TopicPartition

from bench.peers.sightings import Sightings
from tablecast.kafka.clients import make_consumer
from tablecast.settings import KafkaSettings

POLL_SECONDS = 0.1


@contextmanager
def watching_topic(kafka: KafkaSettings, topic: str, newest: int) -> Iterator[Sightings]:
    """From its beginning on. Entered when the message `newest` was seen."""
    seen, ended = Sightings(), threading.Event()
    consumer = make_consumer(kafka, {"group.id": "viewer", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    thread = threading.Thread(target=_follow, args=(consumer, seen, ended), name=f"viewer-{topic}")
    thread.start()
    try:
        seen.wait_for(newest)
        yield seen
    finally:
        ended.set()
        thread.join()
        consumer.close()


def _follow(consumer: Consumer, seen: Sightings, ended: threading.Event) -> None:
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    while not ended.is_set():
        record = consumer.poll(POLL_SECONDS)
        if record is None or record.error() is not None:
            continue
        row = decode(record.value() or b"")
        seen.take([(row["userId"], row["name"], row["accountType"])], time.time())
