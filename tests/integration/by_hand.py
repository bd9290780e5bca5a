"""A pipeline without Spark: its records are written by hand, as the orchestrator and Spark would write them."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import httpx
from confluent_kafka import Producer

from tablecast.client import OpenTable, Viewer, WindowState
from tablecast.kafka.admin import Topics
from tablecast.kafka.names import changelog_topic, status_topic
from tablecast.kafka.status import PULSE_KEY, ColumnStatus, GenerationStatus, Pulse, State, TableStatus
from tablecast.settings import KafkaSettings
from tablecast.wire.messages import Feed

KEY = "open sesame"
BEARER = {"authorization": f"Bearer {KEY}"}
COLUMNS = (ColumnStatus("name", "string"), ColumnStatus("n", "int64"))
PATIENCE = 20.0

Serving = Callable[..., AbstractContextManager[str]]
StartServer = Callable[["Pipeline"], tuple["subprocess.Popen[str]", str]]


@dataclass
class Pipeline:
    """Every row of a generation has its number in the column `name`."""

    kafka: KafkaSettings
    prefix: str
    topics: Topics
    producer: Producer
    tables: Sequence[str] = ("users_ui",)
    announced: dict[int, tuple[ColumnStatus, ...]] = field(default_factory=dict)
    failing: str | None = None
    alive: bool = True

    def beat(self, pulse: Pulse) -> None:
        """As the orchestrator's heart does, while it lives and there is a status topic."""
        if self.alive and self.announced:
            self.producer.produce(status_topic(self.prefix), pulse.encode(), PULSE_KEY)
            self.producer.poll(0)

    def begin(self, generation: int, rows: int, columns: tuple[ColumnStatus, ...] = COLUMNS, partitions: int = 3) -> None:
        """A filled generation that is not live yet."""
        self.topics.ensure(status_topic(self.prefix), 1, {"cleanup.policy": "compact"})
        for table in self.tables:
            self.topics.ensure(self.changelog(generation, table), partitions)
        self.announced[generation] = columns
        self.announce(generation, "building")
        for table in self.tables:
            self.write(generation, *((index, f"g{generation}") for index in range(rows)), table=table)

    def go_live(self, generation: int, ends: dict[str, int] | None = None) -> None:
        self.announce(generation, "live", ends)
        for older in [number for number in self.announced if number < generation]:
            self.announce(older, "lingering")

    def promote(self, generation: int) -> None:
        """As go_live, by way of ready and with the ends of the changelogs, which have one partition each."""
        ends = self.ends(generation)
        self.announce(generation, "ready", ends)
        self.go_live(generation, ends)

    def ends(self, generation: int) -> dict[str, int]:
        changelogs = [self.changelog(generation, table) for table in self.tables]
        return {changelog: self.topics.end_offsets(changelog)[0] for changelog in changelogs}

    def announce(self, generation: int, state: State, ends: dict[str, int] | None = None) -> None:
        tables = {table: TableStatus(self.changelog(generation, table), self.announced[generation]) for table in self.tables}
        status = GenerationStatus(generation, state, {}, tables, {"user": "users_ui"}, "f", "2026-01-01T00:00:00Z", ends=ends or {})
        self.producer.produce(status_topic(self.prefix), status.encode(), status.key())
        assert self.producer.flush(10) == 0

    def write(self, generation: int, *rows: tuple[int, str], version: int = 0, table: str = "users_ui") -> None:
        columns = [column.name for column in self.announced[generation]]
        for index, name in rows:
            value = json.dumps({"name": name, "n": str(index)} | dict.fromkeys(columns[2:], name)).encode()
            headers: list[tuple[str, str | bytes | None]] = [("version", f"{1000 + index}:0:{index}|{version}:0:0".encode())]
            self.producer.produce(self.changelog(generation, table), value, f"0-{index}".encode(), headers=headers)
            self.producer.poll(0)
        assert self.producer.flush(10) == 0

    def retire(self, generation: int) -> None:
        """Its topics are deleted, and then it is said to be gone."""
        self.topics.delete([self.changelog(generation, table) for table in self.tables])
        self.announce(generation, "retired")
        del self.announced[generation]

    def changelog(self, generation: int, table: str = "users_ui") -> str:
        return changelog_topic(self.prefix, table, generation)


def names(window: WindowState) -> list[str]:
    return [row["name"] for _, row in window.rows]


def wait_for(table: OpenTable, condition: Callable[[WindowState], bool]) -> WindowState:
    deadline = time.monotonic() + PATIENCE
    while not condition(window := table.wait(PATIENCE)):
        assert time.monotonic() < deadline, window
    return window


def wait_for_feed(viewer: Viewer, state: str) -> Feed:
    deadline = time.monotonic() + PATIENCE
    while viewer.feed is None or viewer.feed.state != state:
        assert time.monotonic() < deadline, viewer.feed
        viewer.receive(PATIENCE)
    return viewer.feed


def wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while (answer := httpx.get(f"{url}/readyz")).status_code != 200:
        assert answer.json()["error"]["code"] == "not_ready"
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)
