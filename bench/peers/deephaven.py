"""Deephaven as a peer: its server on our topics, and viewers with its own JavaScript client. Fetched at the first use."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.backlog import SOURCES, Backlog
from bench.peers.asked import Asked
from bench.peers.deephaven_viewers import Viewers, read_rows, viewing
from bench.peers.environment import node_modules_with, python_with
from bench.peers.peer import newest
from bench.trips import Rows
from bench.usage import MEBI
from tablecast.java import find_java
from tablecast.settings import KafkaSettings

VERSION = "0.40.9"
SERVER = f"deephaven-server=={VERSION}"
CLIENT = "@deephaven/jsapi-nodejs@1.29.0"
PROGRAM = Path(__file__).parent / "deephaven_server.py"
HEAP = "-Xmx4g"
BARRAGE_MS = 1
"""What a cycle brought is sent when it is over, and does not wait for its turn."""
START_SECONDS = 120.0
FILL_SECONDS = 600.0
ASK_SECONDS = 120.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True)
class Fetched:
    python: Path
    client: Path


def fetched(say: Callable[[str], None]) -> Fetched:
    """Server and client, which are fetched if they are not here: better before something is measured."""
    return Fetched(python_with("deephaven", (SERVER,), say), node_modules_with("deephaven-js", (CLIENT,), say))


@dataclass(frozen=True)
class Filled:
    """How long tables took from the first wish for them until they held everything, and how many rows each has."""

    seconds: float
    rows: dict[str, int]


@dataclass
class Deephaven:
    """A server that is up, and has no tables until `watching` or `fill`. `settings` is the sentence for the page: what it was given."""

    kafka: KafkaSettings
    server: Asked
    client: Path
    folder: Path
    settings: str
    _watched: bool = field(default=False, init=False)

    @property
    def version(self) -> str:
        return str(self.server.greeting["version"])

    @property
    def start_seconds(self) -> float:
        """Until it listened."""
        return float(self.server.greeting["seconds"])

    @property
    def process(self) -> psutil.Process:
        """It holds the server and its Java."""
        return psutil.Process(self.server.process.pid)

    def watching(self, viewers: int = 1) -> AbstractContextManager[Viewers]:
        """Viewers of all rows of final_ui, which holds all that is in the topics before they come. There has to be a user."""
        if not self._watched:
            self._open("", newest(self.kafka), ASK_SECONDS)
            self._watched = True
        return viewing(f"http://127.0.0.1:{self.server.greeting['port']}", self.client, viewers, self.folder)

    def fill(self, backlog: Backlog, name: str) -> Filled:
        """Reads the backlog, which nobody adds to, into tables whose names end with this one."""
        last = {SOURCES[number % 2]: str(number) for number in (backlog.messages - 2, backlog.messages - 1)}
        answer = self._open(name, last, FILL_SECONDS)
        return Filled(answer["seconds"], answer["rows"])

    def rows(self, table: str, name: str = "") -> Rows:
        """All that the table holds now."""
        file = self.folder / f"{table}{name}.jsonl"
        self.server.ask({"do": "rows", "table": table + name, "file": str(file)}, ASK_SECONDS)
        return read_rows(table, file.read_text())

    def memory(self) -> dict[str, float]:
        """The memory of the process, and then what is on Java's heap once its garbage is gone."""
        rss = self.process.memory_info().rss
        return {"rss_mb": round(rss / MEBI, 1), "heap_mb": round(self.server.ask({"do": "heap"}, ASK_SECONDS)["bytes"] / MEBI, 1)}

    def _open(self, name: str, last: dict[str, str], within: float) -> dict[str, Any]:
        return self.server.ask({"do": "open", "name": name, "last": last, "within": within}, within + GRACE_SECONDS)


@contextmanager
def deephaven(kafka: KafkaSettings, cycle_ms: int | None, folder: Path, say: Callable[[str], None]) -> Iterator[Deephaven]:
    """A server on the topics users and accounts, from `with` to its end, and not longer than this process. None: cycles as it comes, of a second."""
    packages = fetched(say)
    folder.mkdir(parents=True, exist_ok=True)
    # -P: the modules of this folder have the names of theirs.
    command = [str(packages.python), "-P", str(PROGRAM), kafka.servers, HEAP, *cycle_options(cycle_ms)]
    say(f"starting Deephaven: {told(cycle_ms)}")
    with Asked(command, folder / "deephaven.log", START_SECONDS, _environment(folder)) as server:
        yield Deephaven(kafka, server, packages.client, folder, told(cycle_ms))


def cycle_options(cycle_ms: int | None) -> list[str]:
    if cycle_ms is None:
        return []
    return [f"-DPeriodicUpdateGraph.targetCycleDurationMillis={cycle_ms}", f"-Dbarrage.minUpdateInterval={BARRAGE_MS}"]


def told(cycle_ms: int | None) -> str:
    """What it was given, for a reader."""
    cycles = " ".join(cycle_options(cycle_ms)) or "cycles and updates as it comes, once a second"
    tables = "blink tables of Kafka's records by json_spec, last_by, natural_join"
    return (
        f"{SERVER.replace('==', ' ')}, {HEAP}, {cycles}; {tables}; viewers by {CLIENT} over HTTP/2, a connection each, with 4 MiB of receive window"
    )


def _environment(folder: Path) -> dict[str, str]:
    """Ours, without what makes Python find our own code, and with folders of its own for what it keeps and where it looks for settings."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    java = find_java().executable.resolve().parent.parent
    folders = {f"DEEPHAVEN_{kind.upper()}_DIR": str(folder / kind) for kind in ("data", "cache", "config")}
    return {**ours, "JAVA_HOME": str(java), **folders}
