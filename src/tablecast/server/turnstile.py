"""Lets newcomers in. Who comes, goes and comes again costs far more than who stays, and shall not be felt by those who do."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from tablecast.server.rate import Budget

SHARE = 0.1
"""Of the loop's time, for all newcomers together."""
BURST_SECONDS = 0.5
"""Taken at once where few came before: after a restart everybody comes back in the same second."""
ENTRY_SECONDS = 0.0002
"""What a newcomer takes at the least, counted when it goes in: what it really takes is known later, and until then all who wait would be let in."""


class Turnstile:
    """Newcomers go in at once, in the order in which they came, as long as what newcomers take is within their share. Belongs to the event loop."""

    def __init__(self, share: float = SHARE, burst: float = BURST_SECONDS) -> None:
        self._budget = Budget(share, burst)
        self._waiting: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, enter: Callable[[], None]) -> None:
        """Calls `enter` now or later."""
        self._waiting.append(enter)
        if self._timer is None:
            self._let_in()

    def spend(self, seconds: float) -> None:
        """What a newcomer took of the loop's time."""
        self._budget.spend(seconds, time.perf_counter())

    def _let_in(self) -> None:
        self._timer = None
        while self._waiting:
            wait = self._budget.wait(time.perf_counter())
            if wait > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._let_in)
                return
            self._waiting.popleft()()
            self.spend(ENTRY_SECONDS)
