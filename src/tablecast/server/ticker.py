"""Coalesces changes: many touches, one act. The more an act costs, the longer until the next."""

import asyncio
import time
from collections.abc import Callable

QUIET_SECONDS = 0.002
SLOWEST_SECONDS = 0.08
"""Even the busiest server ticks a dozen times a second: what it cannot send by then is skipped for the newest state."""
SHARE = 0.5
"""Of the loop's time that may go into acts and what they set off; the rest is for what comes in."""
_EARLY = 0.0005
"""An act is not put off once more for less than this: the loop's own clock counts milliseconds."""


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
        self._cost = 0.0
        """Of the last act and what it set off, as far as it is known."""
        self._narrowed = quiet
        """The interval before the last act."""

    @property
    def behind(self) -> float:
        """How many seconds longer than in quiet times it lets pass between two acts."""
        return self.interval - self._quiet

    def touch(self) -> None:
        if self._pending:
            return
        self._pending = True
        loop = asyncio.get_running_loop()
        self._settle()
        wait = self._last + self.interval - loop.time()
        if wait > 0:
            loop.call_later(wait, self._run)
        else:
            loop.call_soon(self._run)

    def charge(self, seconds: float) -> None:
        """What the last act set off took so long."""
        self._cost += seconds

    def _run(self) -> None:
        loop = asyncio.get_running_loop()
        self._settle()
        # What the last act set off may have taken longer than was known when this one was put down.
        if (wait := self._last + self.interval - loop.time()) > _EARLY:
            loop.call_later(wait, self._run)
            return
        if self._took is not None and self._cost:
            self._took(self._cost)
        self._pending = False
        self._last = loop.time()
        began = time.perf_counter()
        self._act()
        self._cost = time.perf_counter() - began
        self._narrowed = self.interval

    def _settle(self) -> None:
        """Widens at once, and narrows by and by: a crowd's frames do not all cost the same."""
        wanted = self._cost / SHARE
        self.interval = min(self._slowest, max(self._quiet, wanted, 0.9 * self._narrowed))
