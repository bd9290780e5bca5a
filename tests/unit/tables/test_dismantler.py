"""What is let go is taken apart, all of it, one after another, in a thread."""

import threading
import time
from collections.abc import Iterator

from tablecast.tables.dismantler import Dismantler


def test_everything_is_taken_apart_by_one_thread_at_a_time_also_what_comes_later() -> None:
    dismantler, done = Dismantler(), threading.Semaphore(0)
    walkers: set[int] = set()
    inside: list[int] = []

    def steps() -> Iterator[None]:
        inside.append(1)
        assert len(inside) == 1
        for _ in range(20):
            walkers.add(threading.get_ident())
            yield
        inside.pop()
        done.release()

    for _ in range(5):
        dismantler.take(steps())
    assert all(done.acquire(timeout=5) for _ in range(5))
    time.sleep(0)
    dismantler.take(steps())
    assert done.acquire(timeout=5)
    assert threading.get_ident() not in walkers
