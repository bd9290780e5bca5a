"""Says on the status topic, all the time, that the pipeline runs, or why it does not."""

import threading
from collections.abc import Callable
from typing import Protocol

from tablecast.kafka.status import PULSE_SECONDS, Pulse


class Beating(Protocol):
    """Where a pulse goes."""

    def beat(self, pulse: Pulse) -> None: ...


class Heart:
    """Beats in a thread of its own, so that a long step of the orchestrator is not taken for its death."""

    def __init__(self, board: Beating, failing: Callable[[], str | None]) -> None:
        """`failing` is called in that thread: why a query does not run, or None."""
        self._board = board
        self._failing = failing
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(PULSE_SECONDS):
            self._board.beat(Pulse(self._failing()))
