"""A live generation of final_ui without Spark: status, pulse and changelog written as the orchestrator and Spark would write them."""

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from confluent_kafka import Producer

from bench.subject import key_of
from tablecast.configuration import load
from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import LASTING, changelog_topic, servers_topic, status_topic
from tablecast.kafka.status import PULSE_KEY, ColumnStatus, GenerationStatus, Pulse, TableStatus, told_time
from tablecast.orchestrator.heart import Heart
from tablecast.settings import KafkaSettings

TABLE = "final_ui"
PARTITIONS = 3
FLUSH_SECONDS = 60.0
STAMP = "accountType"
"""The column that holds the moment of a change, as text of seconds."""


class Handmade:
    """`rows` rows of final_ui, live; then `changing` writes changes at a steady rate, each with its moment in the row."""

    def __init__(self, kafka: KafkaSettings, prefix: str, rows: int) -> None:
        self.rows = rows
        self.servers = kafka.servers
        self.prefix = prefix
        self._producer: Producer = make_producer(kafka, {"linger.ms": 0})
        self._topics = Topics(kafka, "bench")
        self._changelog = changelog_topic(prefix, TABLE, 1)
        self._versions = [0] * rows
        self._dice = random.Random(7)
        self._heart = Heart(self, lambda: None)

    def beat(self, pulse: Pulse) -> None:
        self._producer.produce(status_topic(self.prefix), pulse.encode(), PULSE_KEY)

    def go_live(self) -> None:
        for topic in (status_topic(self.prefix), servers_topic(self.prefix)):
            self._topics.ensure(topic, 1, LASTING)
        self._topics.ensure(self._changelog, PARTITIONS, {"cleanup.policy": "compact"})
        for index in range(self.rows):
            self.change(index)
        self._flush()
        columns = tuple(ColumnStatus(column.name, column.type) for column in load(None, {}, []).catalog.columns()[TABLE])
        tables = {TABLE: TableStatus(self._changelog, columns)}
        status = GenerationStatus(1, "live", {}, tables, {}, "handmade", told_time(datetime.now(UTC)))
        self._producer.produce(status_topic(self.prefix), status.encode(), status.key())
        self._flush()
        self._heart.start()

    def end(self) -> None:
        self._heart.stop()
        self._flush()

    def change(self, index: int) -> None:
        """A newer account of one user, at this moment."""
        user = key_of(index)
        self._versions[index] += 1
        row = {
            "userId": user,
            "name": f"name {index * 7919 % self.rows}",
            "email": f"{user}@example.com",
            "age": str(index % 90),
            STAMP: f"{time.time():.6f}",
            "balance": round(self._dice.uniform(0, 100_000), 2),
        }
        version = f"{1_700_000_000_000 + index}:0:{index}|{1_700_000_000_000 + self._versions[index]}:0:{self._versions[index]}"
        headers: list[tuple[str, str | bytes | None]] = [(VERSION_HEADER, version.encode())]
        while True:
            try:
                self._producer.produce(self._changelog, msgspec.json.encode(row), f"0-{index}".encode(), headers=headers)
                break
            except BufferError:
                self._producer.poll(0.1)
        self._producer.poll(0)

    def changing(self, rate: float, among: int) -> "Changing":
        """Changes of the first `among` rows, until it is left."""
        return Changing(lambda: self.change(self._dice.randrange(among)), rate)

    def _flush(self) -> None:
        if left := self._producer.flush(FLUSH_SECONDS):
            raise TimeoutError(f"{left} records were not taken within {FLUSH_SECONDS:g} s")


class Changing:
    """Calls `change` at a steady rate, in a thread, while the context lasts. `late` is how far behind the rate it was at worst, in seconds."""

    def __init__(self, change: Callable[[], None], rate: float) -> None:
        self.late = 0.0
        self.count = 0
        self._change = change
        self._rate = rate
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)

    def __enter__(self) -> "Changing":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        started = time.monotonic()
        while not self._stopped.is_set():
            ahead = started + self.count / self._rate - time.monotonic()
            self.late = max(self.late, -ahead)
            if ahead > 0 and self._stopped.wait(ahead):
                return
            self._change()
            self.count += 1
