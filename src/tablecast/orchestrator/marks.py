"""Marks: how the orchestrator learns that a query has taken in all of its seeds."""

from collections.abc import Sequence

from confluent_kafka import TopicPartition

from tablecast.errors import BrokerUnreachable
from tablecast.kafka.clients import make_consumer, make_producer
from tablecast.settings import KafkaSettings

SEND_SECONDS = 30.0
POLL_SECONDS = 0.1


class Marks:
    """Sends one mark for each seed partition and lane, and watches for them on the other side."""

    def __init__(self, kafka: KafkaSettings, seeds: str, marks: str, partitions: int, lanes: Sequence[str]) -> None:
        self.kafka = kafka
        self.seeds = seeds
        self.awaited = {f"{partition}-{lane}" for partition in range(partitions) for lane in lanes}
        self.partitions = partitions
        self.lanes = lanes
        self._consumer = make_consumer(kafka, {"group.id": marks, "enable.auto.commit": False})
        self._consumer.assign([TopicPartition(marks, 0, 0)])

    def send(self) -> None:
        """To be called when the seeds are on the broker: a mark stands behind them."""
        producer = make_producer(self.kafka, {"acks": "all"})
        for partition in range(self.partitions):
            for lane in self.lanes:
                producer.produce(self.seeds, lane, partition=partition)
        if producer.flush(SEND_SECONDS):
            raise BrokerUnreachable("changelog", self.kafka.servers, f"marks were not taken within {SEND_SECONDS:g} s")

    def all_came(self) -> bool:
        """Waits a moment, and says whether every mark has come out."""
        for message in self._consumer.consume(1000, POLL_SECONDS):
            if message.error() is None:
                self.awaited.discard((message.key() or b"").decode())
        return not self.awaited

    def close(self) -> None:
        self._consumer.close()
