"""One measurement at a time on a machine: two would measure each other."""

import fcntl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path(tempfile.gettempdir()) / "tablecast-bench.lock"


@contextmanager
def machine_to_ourselves(say: Callable[[str], None]) -> Iterator[None]:
    """Waits for other measurements of this machine to end. The kernel frees the lock when its holder dies."""
    with LOCK.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another measurement to end")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
