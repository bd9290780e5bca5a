"""Takes apart what nobody needs any more, in a thread, and gives the memory back to the system."""

import ctypes
import gc
import threading
import time
from collections import deque
from collections.abc import Iterator

_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
_MMAP_THRESHOLD, _LARGE_BYTES = -3, 131_072
_FEW_COLLECTIONS = 20_000
"""More objects than a batch of records is made of."""


class Dismantler:
    """One thread for everything that is let go: fifty that all want the interpreter would hold up the ticking more than the freeing does."""

    def __init__(self) -> None:
        self._waiting: deque[Iterator[None]] = deque()
        self._lock = threading.Lock()
        self._running = False

    def take(self, steps: Iterator[None]) -> None:
        """Walks through the steps soon."""
        with self._lock:
            self._waiting.append(steps)
            if not self._running:
                self._running = True
                threading.Thread(target=self._run, name="dismantler", daemon=True).start()

    def _run(self) -> None:
        while (steps := self._next()) is not None:
            walk(steps)

    def _next(self) -> Iterator[None] | None:
        """None when all is done: then the memory is given back."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
        give_back()
        with self._lock:
            self._running = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None


def walk(steps: Iterator[None]) -> None:
    for _ in steps:
        time.sleep(0)


def give_back() -> None:
    """What lay in circles is collected, and free pages go back to the system. The rows of tables are not tracked, so this takes milliseconds."""
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


def collect_rarely() -> None:
    """For a process that holds tables. What was imported lives as long as it does, so no collection has to look at it again while viewers wait; and
    what comes in thousands, as records do, is soon gone by itself: to look for circles among them took a tenth of the time of a fill."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_FEW_COLLECTIONS, *gc.get_threshold()[1:])


def give_back_large_at_once() -> None:
    """From now on a large piece of memory is its own mapping, and gone when it is freed. By itself glibc keeps such pieces for later once it has seen
    one come and go: what a window of 5,000 rows needed would stay in the process for ever."""
    if _mallopt is not None:
        _mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
