"""One supervised process: how it is started, relayed, stopped, and when it may start again."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tablecast.printable import escaped
from tablecast.processes.lifeline import VARIABLE

FIRST_PAUSE = 0.15
GROWTH = 1.5
LONGEST_PAUSE = 10.0
STEADY_SECONDS = 60.0
LINE_BYTES = 65_536
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True)
class Sibling:
    """A program to keep running. It starts once `after()` is true, or when it has waited long enough: it must be able to wait by itself."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    after: Callable[[], bool] | None = None
    niceness: int = 0
    """How much it gives way to others where there are fewer cores than work; 19 is most."""


def tablecast_command(*arguments: str) -> tuple[str, ...]:
    """The command line of one of our own commands."""
    return (sys.executable, "-m", "tablecast", *arguments)


def pause_before(failures: int) -> float:
    """Seconds before the start that follows so many quick deaths."""
    return min(FIRST_PAUSE * GROWTH**failures, LONGEST_PAUSE)


class Child:
    """The life of a sibling. All methods are called by the supervisor's one thread."""

    def __init__(self, sibling: Sibling) -> None:
        self.name = sibling.name
        self._sibling = sibling
        self._process: subprocess.Popen[bytes] | None = None
        self._relay: threading.Thread | None = None
        self._failures = 0
        self._started = 0.0
        self._due = 0.0
        self._patience_ends = time.monotonic() + PATIENCE_SECONDS

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def is_due(self) -> bool:
        """Whether it is time to start it."""
        if self._process or time.monotonic() < self._due:
            return False
        after = self._sibling.after
        return after is None or time.monotonic() >= self._patience_ends or after()

    def start(self, say: Callable[[str], None], ended: Callable[["Child", int], None]) -> None:
        """`ended` is called once, in another thread, with its exit code."""
        process = subprocess.Popen(
            self._sibling.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self._sibling.environment, VARIABLE: "1"},
            # A Ctrl-C in the terminal is the supervisor's alone.
            start_new_session=True,
        )
        if self._sibling.niceness:
            give_way(process.pid, self._sibling.niceness)
        self._process, self._started = process, time.monotonic()
        assert process.stdout is not None
        self._relay = threading.Thread(target=_relay, args=(self.name, process.stdout, say), name=f"relay-{self.name}", daemon=True)
        self._relay.start()
        threading.Thread(target=lambda: ended(self, process.wait()), name=f"wait-{self.name}", daemon=True).start()

    def finish(self) -> float:
        """It has ended: removes what it left, and returns the seconds until it may start again."""
        lived = time.monotonic() - self._started
        process, self._process = self._process, None
        if process:
            _kill_group(process)
            if process.stdin:
                process.stdin.close()
        if self._relay:
            self._relay.join(timeout=0.5)
        self._failures = 0 if lived >= STEADY_SECONDS else self._failures
        pause = pause_before(self._failures)
        self._failures += 1
        self._due = time.monotonic() + pause
        return pause

    def terminate(self) -> None:
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """At once, with all that it started in its session."""
        if self._process:
            _kill_group(self._process)


def give_way(pid: int, niceness: int) -> None:
    """A process that has just begun, and all that it starts. Where Linux shares the cores among sessions, its session has to give way too."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, niceness)
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _relay(name: str, output: IO[bytes], say: Callable[[str], None]) -> None:
    """Every line gets the name in front, unless it has it, and steers no terminal. Reads on whatever happens: a full pipe would stall the child."""
    prefix = f"[{name}] "
    with output:
        for raw in iter(lambda: output.readline(LINE_BYTES), b""):
            line = escaped(raw.decode(errors="replace").rstrip(), keep="\t")
            if line:
                say(line if line.startswith(prefix) else prefix + line)
