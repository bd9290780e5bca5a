"""What a fill does when Spark does not tell what it counted."""

import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tablecast.pipeline.batch import counted
from tablecast.pipeline.realtime import OUT_OF_HISTORY


class Counts:
    """An observation that is told, or never is."""

    def __init__(self, told: dict[str, int] | None) -> None:
        self.told = told
        self.asked_no_more = threading.Event()

    @property
    def get(self) -> dict[str, int]:
        if self.told is None:
            self.asked_no_more.wait()
        return self.told or {OUT_OF_HISTORY: 0}


@pytest.fixture
def never_told() -> Iterator[Counts]:
    counts = Counts(None)
    yield counts
    counts.asked_no_more.set()


def test_what_spark_has_counted_is_told() -> None:
    assert counted(cast("Any", Counts({OUT_OF_HISTORY: 7}))) == 7


def test_a_count_that_never_comes_holds_up_nothing(never_told: Counts, caplog: pytest.LogCaptureFixture) -> None:
    assert counted(cast("Any", never_told), 0.05) == 0
    assert "they are not counted" in caplog.text
