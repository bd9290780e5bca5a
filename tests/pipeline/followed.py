"""Topics of ours, each followed by one consumer: who looks ten times a second must not open a client each time, beside a Spark that works."""

import time

from confluent_kafka import KafkaError, Message, TopicPartition

from tablecast.errors import TopicMissing
from tablecast.kafka.admin import Topic, Topics
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.status import GenerationStatus, decode_status, is_generation
from tablecast.settings import KafkaSettings

SECONDS = 30.0
OWN: dict[str, str | int | bool] = {"group.id": "followed", "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 5}


class Followed:
    """The records of partition 0, from its beginning."""

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        """The topic must exist."""
        self._place = TopicPartition(topic, 0, 0)
        self._consumer = make_consumer(kafka, {**OWN, "auto.offset.reset": "earliest"})
        self._consumer.assign([self._place])
        self._end = -1
        self._records: list[tuple[bytes, bytes | None]] = []

    def read(self) -> list[tuple[bytes, bytes | None]]:
        """Key and value of all that stands there now."""
        deadline = time.monotonic() + SECONDS
        end = self._consumer.get_watermark_offsets(self._place, timeout=SECONDS)[1]
        while self._end < end:
            assert time.monotonic() < deadline, f"{self._place.topic} was read up to {self._end} of {end}"
            for message in self._consumer.consume(1000, 0.05):
                self._take(message)
        return self._records

    def close(self) -> None:
        self._consumer.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self._records.append((message.key() or b"", message.value()))
        elif error.code() == KafkaError._PARTITION_EOF:
            self._end = message.offset() or 0


class Watched:
    """The topics of ours on one Kafka, each followed from when somebody first looks at it."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._topics = Topics(kafka, "test")
        self._followed: dict[str, tuple[Topic, Followed]] = {}

    def records(self, topic: str) -> list[tuple[bytes, bytes | None]]:
        """Key and value of all that stands there now; nothing where there is no such topic."""
        try:
            found = self._topics.find(topic)
        except TopicMissing:
            return []
        if topic not in self._followed or self._followed[topic][0] != found:
            self._followed[topic] = found, Followed(self._kafka, topic)
        return self._followed[topic][1].read()

    def rows(self, topic: str) -> dict[str, bytes]:
        """The last word on each key, as far as it says anything."""
        return {key.decode(): value for key, value in dict(self.records(topic)).items() if value is not None}

    def statuses(self, topic: str) -> dict[int, GenerationStatus]:
        """What a status topic says of each generation."""
        return {int(key): decode_status(value) for key, value in self.rows(topic).items() if is_generation(key.encode())}

    def close(self) -> None:
        for _, followed in self._followed.values():
            followed.close()
        self._followed.clear()
