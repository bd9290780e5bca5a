"""How many messages may come, and how much of the time may be taken."""

from collections import deque

_A_LITTLE = 0.001
"""So that there is really something when the wait is over."""


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

    def forgive(self) -> None:
        """The last event does not count."""
        self._times.pop()


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


class Budget:
    """A `share` of the time in the long run, and `burst` seconds at once. What a step took is known only afterwards, so it may be overdrawn."""

    def __init__(self, share: float, burst: float) -> None:
        self._share = share
        self._burst = burst
        self._left = burst
        self._at = float("-inf")

    def spend(self, seconds: float, now: float) -> None:
        self._fill(now)
        self._left -= seconds

    def wait(self, now: float) -> float:
        """After how many seconds there will be something to spend; 0 if there is."""
        if self._left > 0:
            return 0.0
        self._fill(now)
        return 0.0 if self._left > 0 else -self._left / self._share + _A_LITTLE

    def _fill(self, now: float) -> None:
        self._left = min(self._burst, self._left + (now - self._at) * self._share)
        self._at = now
