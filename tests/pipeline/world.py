"""An orchestrator on real Spark and Kafka, and what to see of it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tablecast.configuration import Configuration, load
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.names import changelog_topic, status_topic, system_changelog
from tablecast.kafka.status import GenerationStatus, decode_status
from tablecast.orchestrator.orchestrator import Orchestrator
from tests.pipeline.changelogs import Changelogs
from tests.pipeline.followed import Watched

PATIENCE = 90.0


def until(condition: Callable[[], bool], told: Callable[[], object]) -> None:
    """Fails with what is `told` when patience is over."""
    deadline, pause = time.monotonic() + PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, told()
        pause.wait(0.1)


# Two tables of one query, where that is enough: Spark plans them sooner than all the default ones.
TWO_TABLES = """
[tables.users_ui]
source = "users"
[tables.final_ui]
join = "left"
left = "users"
right = "accounts"
on = "userId"
"""


class World:
    """One state folder and one set of topics, over which orchestrators come and go."""

    def __init__(
        self, spark: SparkSession, broker: EmbeddedBroker, topics: Mapping[str, str], folder: Path, prefix: str = "p", tables: str = ""
    ) -> None:
        """`tables` are those of the catalogue, in TOML; the default ones if none are given."""
        self.spark = spark
        self._file = folder / "tablecast.toml"
        folder.mkdir(exist_ok=True)
        self._file.write_text(tables)
        self.stops: list[threading.Event] = []
        """What ends each orchestrator that was started."""
        self.kafka = broker.kafka
        self.watched = Watched(broker.kafka)
        self.prefix = topics["users"].replace("users", prefix)[-60:].strip("-")
        self.overrides = [
            f"pipeline.state_dir={folder}",
            f"changelog.prefix={self.prefix}",
            "pipeline.linger_seconds=0",
            f"kafka.bootstrap.servers={broker.servers}",
            *(f"sources.{name}.topic={topic}" for name, topic in topics.items()),
        ]

    def configuration(self, *more: str) -> Configuration:
        return load(self._file, {}, [*self.overrides, *more])

    @contextmanager
    def orchestrated(self, *more: str) -> Iterator[Orchestrator]:
        stop = threading.Event()
        self.stops.append(stop)
        orchestrator = Orchestrator(self.configuration(*more), self.kafka, self.spark, stop)
        thread = threading.Thread(target=orchestrator.run)
        thread.start()
        try:
            yield orchestrator
        finally:
            stop.set()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            self.watched.close()

    def controls(self) -> dict[str, dict[str, Any]]:
        """The rows of control_raw."""
        return self._system_rows("control_raw")

    def orchestrator_row(self) -> dict[str, Any]:
        """The row of orchestrator_status."""
        return self._system_rows("orchestrator_status").get("orchestrator", {})

    def _system_rows(self, table: str) -> dict[str, dict[str, Any]]:
        return {row_id: json.loads(value) for row_id, value in self.watched.rows(system_changelog(self.prefix, table)).items()}

    def states(self) -> dict[int, str]:
        return {number: status.state for number, status in self._statuses().items()}

    def status(self, generation: int) -> GenerationStatus | None:
        return self._statuses().get(generation)

    def told_errors(self, generation: int) -> set[str]:
        """What the status topic has said was wrong with it, also if it is not any more."""
        told = [value for key, value in self.watched.records(status_topic(self.prefix)) if key == str(generation).encode()]
        return {error for value in told if (error := decode_status(value or b"").error) is not None}

    def _statuses(self) -> dict[int, GenerationStatus]:
        return self.watched.statuses(status_topic(self.prefix))

    def until(self, condition: Callable[[], bool]) -> None:
        until(condition, self.states)

    def until_rows(self, generation: int, expected: Mapping[str, list[dict[str, Any]]]) -> None:
        """Waits until the tables hold exactly these rows, in this order."""
        topics = {table: changelog_topic(self.prefix, table, generation) for table in expected}
        changelogs = Changelogs(self.kafka, topics)
        try:
            self.until(
                lambda: changelogs.poll() >= 0 and all([cells for _, cells in changelogs.content(table)] == rows for table, rows in expected.items())
            )
        finally:
            changelogs.close()
