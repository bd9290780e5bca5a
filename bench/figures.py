"""Latencies in figures: percentiles, and the pauses at checkpoints apart from the steady state."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

NEAR_SECONDS = 3.0
"""A gap belongs to a checkpoint that was committed during it or this shortly before or after."""

EDGE_SECONDS = 0.5
"""So long nothing flows after a commit: the next batch begins."""

SHARES = (1, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 100)
"""Of a distribution, in percent."""


@dataclass(frozen=True)
class Trip:
    """One message: when it was sent and when it arrived, in seconds."""

    sent: float
    arrived: float

    @property
    def ms(self) -> float:
        return 1000 * (self.arrived - self.sent)


@dataclass(frozen=True)
class Gap:
    """A span in which nothing arrived."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start

    def held_up(self, trip: Trip) -> bool:
        """Whether the message was on its way when the gap ended."""
        return trip.sent < self.end <= trip.arrived


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` of the sorted `values` are not above, which is always one of them (nearest rank)."""
    if not values:
        raise ValueError("a percentile of no values")
    return values[max(0, math.ceil(len(values) * percent / 100) - 1)]


def summary(trips: Iterable[Trip]) -> dict[str, float | int | None]:
    """n, p50_ms, p90_ms, p99_ms and max_ms."""
    times = sorted(trip.ms for trip in trips)
    shares = {"p50_ms": 50, "p90_ms": 90, "p99_ms": 99, "max_ms": 100}
    return {"n": len(times)} | {name: round(percentile(times, percent), 2) if times else None for name, percent in shares.items()}


def curve(trips: Iterable[Trip]) -> list[tuple[float, float]]:
    """The distribution as pairs of a percentage and the milliseconds that so many trips did not exceed."""
    times = sorted(trip.ms for trip in trips)
    return [(percent, round(percentile(times, percent), 2)) for percent in SHARES] if times else []


def commit_times(state_dir: Path) -> list[float]:
    """When each checkpoint of each query was committed, as far as it is still there."""
    files = state_dir.glob("checkpoints/g*/q*/commits/[0-9]*")
    return sorted(file.stat().st_mtime for file in files)


def pauses(trips: Sequence[Trip], commits: Iterable[float]) -> list[Gap]:
    """The longest gap around each commit that happened while messages were on their way, or so shortly before that it held up the first of them."""
    sent = [min(trip.sent for trip in trips)] if trips else []
    moments = sorted({*sent, *(trip.arrived for trip in trips)})
    found = []
    for commit in commits:
        around = [Gap(*pair) for pair in pairwise(_around(moments, commit))]
        if moments and moments[0] - EDGE_SECONDS < commit < moments[-1] and around:
            found.append(max(around, key=lambda gap: gap.seconds))
    return found


def _around(moments: Sequence[float], commit: float) -> Sequence[float]:
    first = bisect_right(moments, commit - NEAR_SECONDS)
    last = bisect_right(moments, commit + NEAR_SECONDS)
    return moments[max(0, first - 1) : last + 1]


def steady(trips: Iterable[Trip], gaps: Sequence[Gap]) -> list[Trip]:
    """The trips that no pause held up."""
    return [trip for trip in trips if not any(gap.held_up(trip) for gap in gaps)]
