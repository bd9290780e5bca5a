"""Percentiles, and the pauses at checkpoints apart from the steady state."""

import os
from pathlib import Path

import pytest

from bench.figures import Gap, Trip, commit_times, pauses, percentile, steady, summary


@pytest.mark.parametrize(("percent", "expected"), [(50, 5), (90, 9), (91, 10), (99, 10), (100, 10), (0, 1)])
def test_a_percentile_is_one_of_the_values(percent: float, expected: float) -> None:
    assert percentile(list(range(1, 11)), percent) == expected


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)
    assert summary([]) == {"n": 0, "p50_ms": None, "p90_ms": None, "p99_ms": None, "max_ms": None}


def test_a_summary_is_in_milliseconds() -> None:
    assert summary([Trip(10.0, 10.0 + ms / 1000) for ms in (30, 10, 20)]) == {"n": 3, "p50_ms": 20.0, "p90_ms": 30.0, "p99_ms": 30.0, "max_ms": 30.0}


def steady_stream(start: float, end: float) -> list[Trip]:
    """One message each 10 ms, which takes 5 ms."""
    return [Trip(start + index / 100, start + index / 100 + 0.005) for index in range(round((end - start) * 100))]


def test_a_pause_at_a_checkpoint_is_told_apart() -> None:
    held_up = [Trip(10.0 + index / 100, 10.8) for index in range(80)]
    trips = [*steady_stream(0, 10), *held_up, *steady_stream(10.8, 20)]
    gaps = pauses(trips, [10.3])
    assert [round(gap.seconds, 3) for gap in gaps] == [0.805]
    assert summary(trips)["max_ms"] == 800.0
    assert summary(steady(trips, gaps)) == {"n": len(trips) - 80, "p50_ms": 5.0, "p90_ms": 5.0, "p99_ms": 5.0, "max_ms": 5.0}


def test_a_gap_without_a_checkpoint_stays_in_the_figures() -> None:
    trips = [*steady_stream(0, 10), Trip(10.0, 10.8), *steady_stream(10.8, 30)]
    gaps = pauses(trips, [20.0])
    assert [round(gap.seconds, 3) for gap in gaps] == [0.01]
    assert summary(steady(trips, gaps))["max_ms"] == 800.0


@pytest.mark.parametrize("commit", [-0.2, 0.1])
def test_a_checkpoint_that_holds_up_the_first_messages_is_a_pause_too(commit: float) -> None:
    """Nothing arrived before it, so there is no gap between arrivals."""
    trips = [*(Trip(index / 100, 0.4) for index in range(40)), *steady_stream(0.4, 10)]
    gaps = pauses(trips, [commit])
    assert [round(gap.seconds, 3) for gap in gaps] == [0.4]
    assert summary(steady(trips, gaps))["max_ms"] == 5.0


def test_checkpoints_outside_of_the_run_are_none_of_it() -> None:
    assert pauses(steady_stream(0, 10), [-1.0, 11.0]) == []
    assert pauses([], [1.0]) == []


def test_a_gap_holds_up_what_is_on_its_way_when_it_ends() -> None:
    gap = Gap(1.0, 2.0)
    assert gap.held_up(Trip(1.5, 2.0))
    assert gap.held_up(Trip(0.9, 2.1))
    assert not gap.held_up(Trip(2.1, 2.2))
    assert not gap.held_up(Trip(0.8, 0.9))


def test_commits_are_read_from_the_checkpoints(tmp_path: Path) -> None:
    commits = tmp_path / "checkpoints" / "g1" / "q0" / "commits"
    commits.mkdir(parents=True)
    for name, moment in (("1", 200.0), ("0", 100.0), (".1.crc", 300.0)):
        (commits / name).touch()
        os.utime(commits / name, (moment, moment))
    assert commit_times(tmp_path) == [100.0, 200.0]
