"""What a server counts from its start on, for its metrics."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

TICK_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)


class Durations:
    """How often something took how long, in buckets of up to `bounds` seconds."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def take(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds


@dataclass
class Counters:
    """Everything grows only."""

    records: int = 0
    """Changelog records that were read."""
    flips: int = 0
    transitions: Counter[str] = field(default_factory=Counter)
    """How often a generation came to a state, by state."""
    sessions: int = 0
    """Connections of viewers that were taken in."""
    messages: int = 0
    """Messages sent to viewers, frames among them."""
    frames: int = 0
    bytes: int = 0
    skips: int = 0
    """States that a viewer never got, because it was not ready for them and a newer one came."""
    stalled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Errors that viewers were answered with, by code."""
    exports: int = 0
    ticks: Durations = field(default_factory=lambda: Durations(TICK_BOUNDS))
    """From a tick to the last frame of it."""
