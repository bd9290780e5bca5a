"""The status topic as the orchestrator sees it: what was said before, and a place to say the next thing."""

import contextlib
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from tablecast.errors import BrokerUnreachable
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_consumer, make_producer, translated
from tablecast.kafka.names import status_topic
from tablecast.kafka.status import PULSE_KEY, GenerationStatus, Pulse, decode_status
from tablecast.settings import KafkaSettings, Settings

READ_SECONDS = 30.0


class StatusBoard:
    """One writer. Every announcement is on the broker before announce() returns."""

    def __init__(self, kafka: KafkaSettings, settings: Settings) -> None:
        self.kafka = kafka
        self.topic = status_topic(settings.changelog.prefix)
        self.topics = Topics(kafka)
        self.topics.ensure(self.topic, 1, {"cleanup.policy": "compact"}, settings.changelog.replication)
        self.generations = self._read()
        self._producer: Producer = make_producer(kafka, {"acks": "all", "linger.ms": 0})

    def live(self) -> GenerationStatus | None:
        return next((status for status in self.generations.values() if status.state == "live"), None)

    def next_number(self) -> int:
        return max(self.generations, default=0) + 1

    def announce(self, status: GenerationStatus) -> None:
        failures: list[KafkaException] = []
        self._producer.produce(
            self.topic,
            status.encode(),
            status.key(),
            partition=0,
            on_delivery=lambda error, _: failures.append(KafkaException(error)) if error else None,
        )
        if self._producer.flush(READ_SECONDS):
            raise BrokerUnreachable("changelog", self.kafka.servers, f"a status was not taken within {READ_SECONDS:g} s")
        if failures:
            raise translated(failures[0], self.kafka, "changelog", self.topic, "write")
        self.generations[status.generation] = status

    def beat(self, pulse: Pulse) -> None:
        """Without waiting: a pulse that does not arrive says enough."""
        with contextlib.suppress(BufferError):
            self._producer.produce(self.topic, pulse.encode(), PULSE_KEY, partition=0)
        self._producer.poll(0)

    def _read(self) -> dict[int, GenerationStatus]:
        """Everything that stands on the topic now, the last word on each generation."""
        end = self.topics.end_offsets(self.topic)[0]
        begin = self.topics.begin_offsets(self.topic)[0]
        consumer = make_consumer(self.kafka, {"group.id": self.topic, "enable.auto.commit": False, "enable.partition.eof": True})
        consumer.assign([TopicPartition(self.topic, 0, begin)])
        try:
            return dict(_until(consumer, end)) if end > begin else {}
        finally:
            consumer.close()


def _until(consumer: Consumer, end: int) -> Mapping[int, GenerationStatus]:
    statuses: dict[int, GenerationStatus] = {}
    while True:
        message: Message | None = consumer.poll(READ_SECONDS)
        if message is None:
            raise BrokerUnreachable("changelog", "the status topic", f"no answer within {READ_SECONDS:g} s")
        if message.error() is None:
            _take(statuses, message)
        if (message.offset() or 0) >= end - 1:
            return statuses


def _take(statuses: dict[int, GenerationStatus], message: Message) -> None:
    key, value = message.key(), message.value()
    if key == PULSE_KEY:
        return
    if value is None:
        statuses.pop(int(key or b"0"), None)
    else:
        status = decode_status(value)
        statuses[status.generation] = status
