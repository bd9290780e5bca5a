"""One measurement at a time on a machine: two would measure each other. What the machine itself can do just now is told with it."""

import fcntl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / "tablecast-bench.lock"

STEPS = 3_000_000


@contextmanager
def machine_to_ourselves(say: Callable[[str], None]) -> Iterator[None]:
    """Waits for other measurements of this machine to end. The kernel frees the lock when its holder dies.

    A shared machine may be half as fast an hour later, so its speed is told before and after: two runs compare only where that is the same.
    """
    with LOCK.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another measurement to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        say(f"this machine, before: {_speed():.1f} million steps a second and core")
        yield
        say(f"this machine, after: {_speed():.1f} million steps a second and core")


def _speed() -> float:
    """Of plain Python, which nothing but the machine makes faster or slower."""
    started, count = time.perf_counter(), 0
    for step in range(STEPS):
        count += step
    return STEPS / (time.perf_counter() - started) / 1e6
