"""Coalesces changes: many touches, one act."""

import asyncio
from collections.abc import Callable


class Ticker:
    """Calls `act` soon after a touch, but never twice within `interval` seconds. Belongs to the running event loop."""

    def __init__(self, interval: float, act: Callable[[], None]) -> None:
        self._interval = interval
        self._act = act
        self._pending = False
        self._last = float("-inf")

    def touch(self) -> None:
        if self._pending:
            return
        self._pending = True
        loop = asyncio.get_running_loop()
        wait = self._last + self._interval - loop.time()
        if wait > 0:
            loop.call_later(wait, self._run)
        else:
            loop.call_soon(self._run)

    def _run(self) -> None:
        self._pending = False
        self._last = asyncio.get_running_loop().time()
        self._act()
