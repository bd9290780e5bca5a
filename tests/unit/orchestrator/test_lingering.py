"""H2: what is left of an old generation goes, however often Kafka refuses, and nobody is told the same thing all day."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.errors import BrokerUnreachable
from tablecast.orchestrator import lingering as module
from tablecast.orchestrator.lingering import Lingering

PATIENCE = 10.0
NOBODY = cast("Any", SimpleNamespace(heard={}))


def tended(lingering: Lingering, remove: Any) -> bool:
    """Whether it is gone in the end."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if lingering.tend(NOBODY, 0.0, remove):
            return True
        pause.wait(0.005)
    return False


def test_a_removal_that_fails_is_tried_again_and_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(module, "Backoff", lambda: SimpleNamespace(next=lambda _: 0.0))
    tries: list[int] = []

    def remove(number: int) -> None:
        tries.append(number)
        if len(tries) < 4:
            raise BrokerUnreachable("changelog", "here:9092", "it is away")

    assert tended(Lingering(7, None, 8), remove)
    assert tries == [7] * 4
    assert sum("it is away" in line for line in caplog.messages) == 1


def test_one_whose_queries_do_not_end_in_order_is_removed_nevertheless(caplog: pytest.LogCaptureFixture) -> None:
    def stop() -> None:
        raise RuntimeError("Java is busy")

    removed: list[int] = []
    assert tended(Lingering(7, cast("Any", SimpleNamespace(stop=stop)), 8), removed.append)
    assert removed == [7]
    assert sum("generation 7: its queries did not end in order, Java is busy" in line for line in caplog.messages) == 1
