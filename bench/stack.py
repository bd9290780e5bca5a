"""A whole Tablecast as a process of its own, in a folder of its own: for benchmarks and for tests from the outside."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.error import URLError
from urllib.parse import unquote, urlencode
from urllib.request import Request, urlopen

import psutil

import tablecast
from tablecast.jars import Jars, fetch
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.broker_files import free_port, read_address
from tablecast.processes.lifeline import VARIABLE as LIFELINE
from tablecast.settings import KafkaSettings, Settings

REPOSITORY = Path(__file__).parent.parent
KEY = "a key of the bench"
OPEN_SECONDS = 180.0
END_SECONDS = 30.0
POLL_SECONDS = 0.1
OPEN = re.compile(r"\[tablecast\] open (?P<url>http://[^\s/]+)(?:/#key=(?P<key>\S+))?")
BROKER_UP = re.compile(r"\[broker\] Kafka listens at ")
SESSION_UP = re.compile(r"\[orchestrator\] Spark \S+ is up")
READY = re.compile(r"\[orchestrator\] ready")
STARTED = re.compile(r"\[supervisor\] (?P<name>\w+) started \(process (?P<pid>\d+)\)")


def jars_folder() -> Path:
    """The jars of this checkout, fetched once if they are not there; TABLECAST_PIPELINE_JARS names another folder."""
    given = os.environ.get("TABLECAST_PIPELINE_JARS")
    pipeline = {"jars": Path(given)} if given else {"state_dir": REPOSITORY / ".tablecast"}
    return fetch(Settings().replaced("pipeline", **pipeline)).folder.absolute()


class StackError(AssertionError):
    """The stack did not do what was waited for. Ends with its last log lines."""

    def __init__(self, what: str, lines: Sequence[str]) -> None:
        super().__init__("\n".join([what, *lines[-40:]]))


class Log:
    """The lines that a process has printed so far, kept in a file too. Reads on whatever happens: a full pipe would stall the process."""

    def __init__(self, output: IO[str], copy: Path) -> None:
        self.lines: list[str] = []
        self._output = output
        self._copy = copy
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, name="stack-log", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._output, self._copy.open("a", buffering=1) as copy:
            for line in self._output:
                copy.write(line)
                with self._news:
                    self.lines.append(line.rstrip())
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, pattern: "re.Pattern[str]", seconds: float, since: int = 0) -> "re.Match[str]":
        """The first match in a line from number `since` on. Raises StackError when there is none in time, or there cannot be one any more."""
        deadline = time.monotonic() + seconds
        with self._news:
            while True:
                found = next(filter(None, map(pattern.search, self.lines[since:])), None)
                since = len(self.lines) if found is None else since
                if found is not None:
                    return found
                if self._ended or not self._news.wait(max(0.0, deadline - time.monotonic())):
                    raise StackError(f"no line like {pattern.pattern!r} within {seconds:g} s", self.lines)

    def join(self) -> None:
        self._thread.join(END_SECONDS)


@dataclass(frozen=True)
class Ending:
    """How a stack ended: its exit code, how long that took, and the processes that outlived it."""

    code: int
    seconds: float
    left: tuple[str, ...]


@dataclass
class Stack:
    """`tablecast demo` (or another supervisor) from `start` to `stop`. Dies with its parent, also by kill -9."""

    state_dir: Path
    jars: Path
    command: str = "demo"
    settings: Mapping[str, object] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    program: Sequence[str] = (sys.executable, "-m", "tablecast")
    folder: Path | None = None
    """Where it is started: by default the state folder, which has no tablecast.toml."""

    def start(self) -> Self:
        self.state_dir.mkdir(parents=True, exist_ok=True)
        given = {"server.port": 0, **self.settings}
        arguments = [part for key, value in given.items() for part in ("--set", f"{key}={value}")]
        self.process = subprocess.Popen(
            [*self.program, self.command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder or self.state_dir,
            env=self._environment(),
        )
        assert self.process.stdout is not None
        self.log = Log(self.process.stdout, self.state_dir / "stack.log")
        return self

    def _environment(self) -> dict[str, str]:
        """Ours, without settings that somebody has for a Tablecast of his own. The same code runs there as here."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("TABLECAST_")}
        code = {"PYTHONPATH": str(Path(tablecast.__file__).parent.parent), LIFELINE: "1"}
        place = {"TABLECAST_PIPELINE_STATE_DIR": str(self.state_dir), "TABLECAST_PIPELINE_JARS": str(self.jars)}
        return {**ours, **code, **place, **self.environment}

    def wait_for_broker(self, seconds: float = OPEN_SECONDS) -> None:
        self.log.wait_for(BROKER_UP, seconds)

    def wait_until_open(self, seconds: float = OPEN_SECONDS) -> Self:
        """Until the address is told: there are tables to see behind it."""
        told = self.log.wait_for(OPEN, seconds)
        self.url, self.key = told["url"], unquote(told["key"] or self.environment["TABLECAST_SERVER_PSK"])
        return self

    def wait_until_ready(self, seconds: float = OPEN_SECONDS) -> None:
        """Until a generation is live."""
        self.log.wait_for(READY, seconds)

    @property
    def kafka(self) -> KafkaSettings:
        """The embedded broker, as it is written down in the state folder."""
        address = read_address(self.state_dir / "broker")
        if address is None:
            raise StackError("the embedded broker has no address yet", self.log.lines)
        return address.kafka

    def wait_for_rows(self, table: str, rows: int, seconds: float = OPEN_SECONDS, **query: object) -> None:
        """Until the server has so many rows of the table, or of a view of it, or more. Through a restart of the server too."""
        deadline = time.monotonic() + seconds
        while (found := self._total(table, query)) < rows:
            if time.monotonic() >= deadline or self.process.poll() is not None:
                raise StackError(f"{table} has {found} rows instead of {rows} after {seconds:g} s", self.log.lines)
            time.sleep(POLL_SECONDS)

    def _total(self, table: str, query: Mapping[str, object]) -> int:
        """-1 while the server is away or has nothing to show yet."""
        try:
            return int(self.rows(table, **query)["total"])
        except URLError:
            return -1

    def rows(self, table: str, **query: object) -> dict[str, Any]:
        """What the server answers for a window of the table: its total and its rows."""
        return self.get(f"/api/tables/{table}/rows?{urlencode({'size': 1, **query})}")

    def get(self, path: str) -> dict[str, Any]:
        """What the server answers."""
        with urlopen(Request(self.url + path, headers={"Authorization": f"Bearer {self.key}"}), timeout=30) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)
            return found

    def process_of(self, name: str) -> psutil.Process:
        """The sibling of this name that was started last."""
        started = [match for match in map(STARTED.search, list(self.log.lines)) if match and match["name"] == name]
        return psutil.Process(int(started[-1]["pid"]))

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self, number: int = signal.SIGINT, grace: float = 0.0) -> Ending:
        """Sends the signal, once, and tells how all of it ended; what is left `grace` seconds after the supervisor's end is told and killed."""
        family = self.descendants() if self.process.poll() is None else []
        asked = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        seconds = time.monotonic() - asked
        _, left = psutil.wait_procs(family, grace)
        told = tuple(_told(process) for process in left)
        for process in left:
            process.kill()
        self._close()
        return Ending(code, seconds, tuple(filter(None, told)))

    def _close(self) -> None:
        self.log.join()
        if self.process.stdin:
            self.process.stdin.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _told(process: psutil.Process) -> str:
    """What is left of a process; nothing once it has ended."""
    try:
        return "" if process.status() == psutil.STATUS_ZOMBIE else f"{process.pid} {' '.join(process.cmdline())[:160]}"
    except psutil.NoSuchProcess:
        return ""


@contextmanager
def bare_pipeline(state_dir: Path, jars: Path, settings: Mapping[str, object]) -> Iterator[Stack]:
    """Broker and orchestrator without a server, for one that the caller runs. The sources are topics of the broker, which the caller creates."""
    embedded = EmbeddedBroker(Settings().replaced("pipeline", state_dir=state_dir, jars=jars), Jars(jars))
    with embedded as broker, Stack(state_dir, jars, "pipeline", {**all_on(broker.servers), **settings}) as stack:
        yield stack


def all_on(servers: str) -> dict[str, str]:
    """Settings by which one Kafka has the sources and the changelogs."""
    return dict.fromkeys(("kafka.bootstrap.servers", "changelog.kafka.bootstrap.servers"), servers)


def bare_stack(state_dir: Path, jars: Path, settings: Mapping[str, object]) -> Stack:
    """Broker, orchestrator and server, without sample data: the sources are topics of the embedded broker, which the caller creates."""
    port = free_port(but=0)
    sources = {"broker.port": port, "kafka.bootstrap.servers": f"127.0.0.1:{port}"}
    return Stack(state_dir, jars, "run", {**sources, **settings}, {"TABLECAST_SERVER_PSK": KEY})
