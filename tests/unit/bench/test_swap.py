"""What of a silence and of a swap's figures counts."""

from typing import Any

import pytest

from bench.figures import Gap
from bench.swap import AROUND_SECONDS, gaps_around, kept

GOOD: dict[str, Any] = {
    "gap_ms_max": 120.0,
    "tick_p99_ms": 60.0,
    "ticks_late": 0,
    "rows": 100_000,
    "warm": [9.0],
    "swap_seconds_max": 8.0,
    "growth": {"topics": 0, "java_threads": -2, "java_mb": 40},
}


def test_a_silence_that_leaves_the_span_around_a_flip_counts_whole() -> None:
    flip, before = 100.0, 100.0 - AROUND_SECONDS
    moments = [before - 3, before - 1, flip, flip + 0.1, flip + AROUND_SECONDS + 5]
    assert gaps_around(flip, moments) == [Gap(*pair) for pair in ((before - 1, flip), (flip, flip + 0.1), (flip + 0.1, flip + AROUND_SECONDS + 5))]


def test_a_viewer_that_never_hears_anything_again_was_silent_to_the_end() -> None:
    assert gaps_around(100.0, [99.0, 100.0]) == [Gap(99.0, 100.0), Gap(100.0, 100.0 + AROUND_SECONDS)]
    assert gaps_around(100.0, []) == []


@pytest.mark.parametrize(
    ("more", "missed"),
    [
        ({}, []),
        ({"gap_ms_max": 250.0}, ["gap"]),
        ({"tick_p99_ms": 300.0}, ["ticks"]),
        ({"ticks_late": 1}, ["late"]),
        ({"swap_seconds_max": 15.0}, ["seconds"]),
        ({"swap_seconds_max": 15.0, "warm": []}, []),
        ({"swap_seconds_max": 15.0, "rows": 2000}, []),
        ({"growth": {"topics": 1, "java_mb": 0}}, ["growth"]),
        ({"growth": {}}, []),
    ],
)
def test_each_bar_is_told_by_its_name(more: dict[str, Any], missed: list[str]) -> None:
    assert [name for name, was in kept(GOOD | more).items() if not was] == missed
