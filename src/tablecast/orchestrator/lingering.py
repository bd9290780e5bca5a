"""An old generation after its successor went live: it lingers, and is then removed."""

import gc
import logging
import time
from collections.abc import Callable

from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.retirement import Servers, is_replaced
from tablecast.orchestrator.task import Task

log = logging.getLogger(__name__)


class Lingering:
    """Its queries end as soon as nobody shows it any more; its topics and checkpoints are removed when it has also lingered."""

    def __init__(self, number: int, generation: Generation | None, successor: int) -> None:
        """`generation` is None where it does not run: it was found after a restart."""
        self.number = number
        self.generation = generation
        self.successor = successor
        self.since = time.monotonic()
        self._stopping: Task[None] | None = None
        self._removal: Task[None] | None = None
        self._removal_due = 0.0
        self._backoff = Backoff()
        self._told = ""

    @property
    def runs(self) -> bool:
        return self.generation is not None and self._stopping is None

    def tend(self, servers: Servers, linger_seconds: float, remove: Callable[[int], None]) -> bool:
        """Whether it is gone. Does not wait. `remove` removes what the generation of a number leaves."""
        now = time.monotonic()
        if self._stopping is None:
            if is_replaced(self.successor, servers.heard, self.since, now):
                self._stopping = Task(f"stop of generation {self.number}", self.stop)
            return False
        if not self._stopping.done or now - self.since < linger_seconds:
            return False
        if self._stopping.error is not None:
            self._complain(f"its queries did not end in order, {self._stopping.error}")
        return self._is_removed(now, remove)

    def stop(self) -> None:
        if self.generation is not None:
            self.generation.stop()

    def _remove(self, remove: Callable[[int], None]) -> None:
        """Clients of Kafka that only circles hold, as those of errors, keep threads and sockets; an orchestrator at rest would not look for them."""
        remove(self.number)
        gc.collect()

    def _is_removed(self, now: float, remove: Callable[[int], None]) -> bool:
        if self._removal is None:
            if now >= self._removal_due:
                self._removal = Task(f"removal of generation {self.number}", lambda: self._remove(remove))
            return False
        if not self._removal.done:
            return False
        if self._removal.error is None:
            return True
        self._complain(f"it is not removed yet and is tried again, {self._removal.error}")
        self._removal, self._removal_due = None, now + self._backoff.next(now)
        return False

    def _complain(self, reason: str) -> None:
        """Each reason once: a right that is missing may be missing for days."""
        if reason != self._told:
            self._told = reason
            log.warning("[orchestrator] generation %d: %s", self.number, reason)
