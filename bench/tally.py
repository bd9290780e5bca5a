"""Millions of latencies in figures, without keeping them."""

from array import array
from collections.abc import Iterable

STEP_MS = 0.5
STEPS = 40_000
"""Up to 20 s; what took longer counts as that."""


class Tally:
    """How many latencies fell into each half millisecond."""

    def __init__(self, counts: Iterable[int] = ()) -> None:
        self.counts = array("q", counts) or array("q", bytes(8 * (STEPS + 1)))

    def take(self, seconds: float) -> None:
        """A clock that was set back gives none below zero."""
        self.counts[min(STEPS, max(0, int(seconds * 1000 / STEP_MS)))] += 1

    @property
    def n(self) -> int:
        return sum(self.counts)

    def percentile(self, percent: float) -> float | None:
        """The end of the step that `percent` of the latencies are not above, in ms. None of none."""
        wanted, seen = max(1.0, self.n * percent / 100), 0
        for step, count in enumerate(self.counts):
            seen += count
            if seen >= wanted:
                return (step + 1) * STEP_MS
        return None

    def summary(self) -> dict[str, float | int | None]:
        shares = {"p50_ms": 50, "p90_ms": 90, "p99_ms": 99, "max_ms": 100}
        return {"n": self.n, **{name: self.percentile(percent) for name, percent in shares.items()}}
