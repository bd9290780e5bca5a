"""How long to wait before the next try."""

FIRST_SECONDS = 0.5
GROWTH = 1.5
MOST_SECONDS = 30.0
CALM_SECONDS = 60.0


class Backoff:
    """Waits longer after each failure, up to `most` seconds, and starts anew when `calm` seconds more than that were without one."""

    def __init__(self, most: float = MOST_SECONDS, calm: float = CALM_SECONDS) -> None:
        self.failures = 0
        self._most = most
        self._calm = calm
        self._last = 0.0

    def next(self, now: float) -> float:
        """Seconds to wait after a failure at `now`."""
        self.failures = 1 if now - self._last > self._calm + self._most else self.failures + 1
        self._last = now
        return min(self._most, FIRST_SECONDS * GROWTH ** (self.failures - 1))
