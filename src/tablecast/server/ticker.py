"""Coalesces changes: many touches, one act. The more an act costs, the longer until the next."""

import asyncio
from collections.abc import Callable

QUIET_SECONDS = 0.002
SLOWEST_SECONDS = 0.08
"""Even the busiest server ticks a dozen times a second: what it cannot send by then is skipped for the newest state."""
SHARE = 0.5
"""Of the loop's time that may go into acts and what they set off; the rest is for what comes in."""
_TURNS = 3
"""Of the event loop, until those who were told have sent what they had: they wake, cut their frames, and write."""


class Ticker:
    """Calls `act` soon after a touch, but never sooner after the last time than its `interval`, which follows the load. Belongs to the event loop."""

    def __init__(
        self,
        act: Callable[[], None],
        quiet: float = QUIET_SECONDS,
        slowest: float = SLOWEST_SECONDS,
        took: Callable[[float], None] | None = None,
    ) -> None:
        """`took` hears how many seconds each act lasted, with what it set off."""
        self.interval = quiet
        self._act = act
        self._quiet = quiet
        self._slowest = slowest
        self._took = took
        self._pending = False
        self._last = float("-inf")

    def touch(self) -> None:
        if self._pending:
            return
        self._pending = True
        loop = asyncio.get_running_loop()
        wait = self._last + self.interval - loop.time()
        if wait > 0:
            loop.call_later(wait, self._run)
        else:
            loop.call_soon(self._run)

    def _run(self) -> None:
        self._pending = False
        loop = asyncio.get_running_loop()
        self._last = loop.time()
        self._act()
        loop.call_soon(self._measure, loop, _TURNS)

    def _measure(self, loop: asyncio.AbstractEventLoop, turns: int) -> None:
        """Widens at once, and narrows by and by: a crowd's frames do not all cost the same."""
        if turns > 1:
            loop.call_soon(self._measure, loop, turns - 1)
            return
        seconds = loop.time() - self._last
        if self._took is not None:
            self._took(seconds)
        wanted = seconds / SHARE
        self.interval = min(self._slowest, max(self._quiet, wanted, 0.9 * self.interval if wanted < self.interval else wanted))
