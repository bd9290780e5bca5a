"""Runs siblings: none takes another with it, one that dies is started again, and all end together when asked."""

import contextlib
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

from tablecast.processes.exit_codes import TERMINAL, told
from tablecast.processes.sibling import Child, Sibling

STOP_SECONDS = 4.0
POLL_SECONDS = 0.05
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Stop:
    """Somebody wants everything to end; asked twice, at once."""


@dataclass(frozen=True)
class Ended:
    child: Child
    code: int


def print_line(line: str) -> None:
    """To standard output. A reader who went away (`| head`) is no reason to stop."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


class Supervisor:
    """`run` decides everything in one thread, from events: a signal, a death, the time."""

    def __init__(self, siblings: Sequence[Sibling], say: Callable[[str], None] = print_line, cap: float = STOP_SECONDS) -> None:
        self._children = [Child(sibling) for sibling in siblings]
        self._say = say
        self._cap = cap
        # A SimpleQueue may be filled from a signal handler while the same thread waits on it; an Event may not.
        self._events: queue.SimpleQueue[Stop | Ended] = queue.SimpleQueue()

    def pids(self) -> dict[str, int]:
        """The siblings that run now."""
        return {child.name: child.pid for child in self._children if child.pid}

    def stop(self) -> None:
        """From any thread or signal handler: the first call ends all in order, the second at once."""
        self._events.put(Stop())

    def run(self) -> int:
        """Returns when all have ended: 0 after a stop, `TERMINAL` if one cannot run until somebody changes something."""
        with self._signals():
            try:
                code = self._keep_running()
                self._end_all()
                return code
            finally:
                for child in self._children:
                    child.kill()

    def _keep_running(self) -> int:
        while True:
            for child in self._children:
                if child.is_due():
                    child.start(self._say, lambda child, code: self._events.put(Ended(child, code)))
                    self._say(f"[supervisor] {child.name} started (process {child.pid})")
            event = self._next(POLL_SECONDS)
            if isinstance(event, Stop):
                self._say("[supervisor] stopping")
                return 0
            if isinstance(event, Ended):
                pause = event.child.finish()
                if event.code == TERMINAL:
                    self._say(f"[supervisor] {event.child.name} cannot run: its last lines say what to change; stopping")
                    return TERMINAL
                self._say(f"[supervisor] {event.child.name} ended ({told(event.code)}); starting again in {pause:.2g} s")

    def _end_all(self) -> None:
        deadline = time.monotonic() + self._cap
        for child in self._children:
            child.terminate()
        while self.pids():
            event = self._next(max(0.0, deadline - time.monotonic()))
            if isinstance(event, Ended):
                event.child.finish()
                continue
            late = ", ".join(self.pids())
            self._say(f"[supervisor] killing {late}{'' if event else f', which did not end within {self._cap:g} s'}")
            for child in self._children:
                child.kill()
            deadline = time.monotonic() + self._cap

    def _next(self, timeout: float) -> Stop | Ended | None:
        try:
            return self._events.get(timeout=timeout)
        except queue.Empty:
            return None

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop()
