"""One measurement at a time on a machine: two would measure each other. What the machine itself can do just now is told with it."""

import fcntl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / "tablecast-bench.lock"

STEPS = 3_000_000
STAT = Path("/proc/stat")


@contextmanager
def machine_to_ourselves(say: Callable[[str], None]) -> Iterator[None]:
    """Waits for other measurements of this machine to end. The kernel frees the lock when its holder dies.

    A shared machine may be half as fast an hour later, so its speed is told before and after, and how much of its processor time went to others
    meanwhile: two runs compare only where these are the same.
    """
    with LOCK.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another measurement to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        speed = Speed()
        say(f"this machine, before: {speed.before:.1f} million steps a second and core")
        yield
        after = speed.told()
        say(f"this machine, after: {after['steps_after']} million steps a second and core; {after['stolen_percent']} % of its time went to others")


class Speed:
    """What the machine can do, from now on."""

    def __init__(self) -> None:
        self.before = _speed()
        self._spent = _processor_time()

    def told(self) -> dict[str, float | None]:
        """Million steps of plain Python a second and core, then and now, and how much of the time between the machine's host gave to others."""
        return {"steps_before": round(self.before, 1), "steps_after": round(_speed(), 1), "stolen_percent": stolen(self._spent, _processor_time())}


def _processor_time() -> tuple[int, ...]:
    """Of all cores by kind since the start, as Linux counts it; the eighth is what the machine's host gave to others. Empty elsewhere."""
    return tuple(map(int, STAT.read_text().split("\n", 1)[0].split()[1:9])) if STAT.exists() else ()


def stolen(before: tuple[int, ...], after: tuple[int, ...]) -> float | None:
    """The share of the time between, in percent. None where it is not counted."""
    spent = [now - then for then, now in zip(before, after, strict=True)]
    return round(100 * spent[7] / max(1, sum(spent)), 1) if spent else None


def _speed() -> float:
    """Of plain Python, which nothing but the machine makes faster or slower."""
    started, count = time.perf_counter(), 0
    for step in range(STEPS):
        count += step
    return STEPS / (time.perf_counter() - started) / 1e6
