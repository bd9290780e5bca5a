"""How long to wait before the next try."""

FIRST_SECONDS = 0.5
GROWTH = 1.5
MOST_SECONDS = 30.0
CALM_SECONDS = 60.0


class Backoff:
    """Waits longer after each failure, and starts anew after a calm while."""

    def __init__(self) -> None:
        self.failures = 0
        self._last = 0.0

    def next(self, now: float) -> float:
        """Seconds to wait after a failure at `now`."""
        self.failures = 1 if now - self._last > CALM_SECONDS + MOST_SECONDS else self.failures + 1
        self._last = now
        return min(MOST_SECONDS, FIRST_SECONDS * GROWTH ** (self.failures - 1))
