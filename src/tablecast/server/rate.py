"""How many messages a viewer may send."""

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
