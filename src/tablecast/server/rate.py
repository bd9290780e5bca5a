"""How many messages may come."""

from collections import deque


class Rate:
    """At most `limit` events within any second."""

    def __init__(self, limit: int) -> None:
        self._times: deque[float] = deque(maxlen=limit)

    def allows(self, now: float) -> bool:
        full = len(self._times) == self._times.maxlen
        if full and now - self._times[0] < 1:
            return False
        self._times.append(now)
        return True


class Allowance:
    """`burst` events at once, and `per_second` of them in the long run."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._left = self._burst
        self._at = float("-inf")

    def wait(self, now: float) -> float:
        """0 if the event is allowed, and then it counts; else after how many seconds one will be."""
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._per_second
        self._left -= 1
        return 0.0
