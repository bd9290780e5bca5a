"""What the orchestrator and Spark would write, written by hand, state after state: what the page says of each is seen at once, and without Spark."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from confluent_kafka import Producer

from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import LASTING, changelog_topic, servers_topic, status_topic, system_changelog
from tablecast.kafka.status import PULSE_KEY, ColumnStatus, GenerationStatus, Progress, Pulse, State, TableStatus, told_time
from tablecast.orchestrator.heart import Heart
from tablecast.settings import KafkaSettings

TABLE = "final_ui"
STATUS = "orchestrator_status"
FLUSH_SECONDS = 60.0
FIRST_VERSION = 1_700_000_000_000
COLUMNS = {"userId": "string", "name": "string", "age": "int64"}
STATUS_COLUMNS = {"usersTopic": "string", "joinType": "string", "generation": "int64", "state": "string", "building": "int64", "lastError": "string"}


class Handwritten:
    """Generations of one table, and the row of `orchestrator_status`."""

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        self.servers = kafka.servers
        self.prefix = prefix
        self._producer: Producer = make_producer(kafka, {"linger.ms": 0})
        self._topics = Topics(kafka, "test")
        self._heart: Heart | None = None
        self._versions = 0
        for topic in (status_topic(prefix), servers_topic(prefix), system_changelog(prefix, STATUS)):
            self._topics.ensure(topic, 1, LASTING)

    def beat(self, pulse: Pulse) -> None:
        self._producer.produce(status_topic(self.prefix), pulse.encode(), PULSE_KEY)

    def run(self) -> None:
        """From now on it says that it lives."""
        self._heart = Heart(self, lambda: None)
        self._heart.start()

    def fall_silent(self) -> None:
        if self._heart is not None:
            self._heart.stop()
            self._heart = None

    def tell(
        self, generation: int, state: State, columns: Mapping[str, str] = COLUMNS, progress: Progress | None = None, error: str | None = None
    ) -> None:
        """Where a generation has got to. Its changelog is there from the first word on."""
        changelog = changelog_topic(self.prefix, TABLE, generation)
        self._topics.ensure(changelog, 1, {"cleanup.policy": "compact"})
        tables = {TABLE: TableStatus(changelog, _told(columns)), STATUS: TableStatus(system_changelog(self.prefix, STATUS), _told(STATUS_COLUMNS))}
        now = told_time(datetime.now(UTC))
        status = GenerationStatus(generation, state, {"users": "users"}, tables, {}, f"handwritten {generation}", now, error, progress)
        self._write(status_topic(self.prefix), status.key(), status.encode())

    def rows(self, generation: int, *rows: Mapping[str, object]) -> None:
        for index, row in enumerate(rows):
            self._send(changelog_topic(self.prefix, TABLE, generation), f"0-{index}".encode(), json.dumps(row).encode())
        assert self._producer.flush(FLUSH_SECONDS) == 0

    def orchestrator(self, **cells: str | None) -> None:
        """The one row that tells what is live; what is not given is null."""
        row = {**dict.fromkeys(STATUS_COLUMNS), "usersTopic": "users", "joinType": "left", **cells}
        self._write(system_changelog(self.prefix, STATUS), b"orchestrator", json.dumps(row).encode())

    def end(self) -> None:
        self.fall_silent()
        assert self._producer.flush(FLUSH_SECONDS) == 0

    def _write(self, topic: str, key: bytes, value: bytes) -> None:
        self._send(topic, key, value)
        assert self._producer.flush(FLUSH_SECONDS) == 0

    def _send(self, topic: str, key: bytes, value: bytes) -> None:
        self._versions += 1
        headers: list[tuple[str, str | bytes | None]] = [(VERSION_HEADER, f"{FIRST_VERSION + self._versions}:0:0".encode())]
        self._producer.produce(topic, value, key, headers=headers)


def _told(columns: Mapping[str, str]) -> tuple[ColumnStatus, ...]:
    return tuple(ColumnStatus(name, type) for name, type in columns.items())
