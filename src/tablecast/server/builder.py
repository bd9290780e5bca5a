"""Builds views for those who wait for them, a slice at a time: whoever asks for fifty sorts of a million rows holds up nobody else."""

import asyncio
import time
from collections.abc import Callable

from tablecast.errors import ViewerError
from tablecast.server.ticker import Ticker
from tablecast.tables.generation import Generation, SharedViewport

BUILD_ROWS = 500
"""Rows of a view that are taken in before others have their turn: one or two milliseconds of work."""

MOST_PAUSE = 3.0
"""Where those who watch already keep the server busy, building gets a quarter of its time."""


class Builder:
    """One slice of one view at a time, however many are wanted, and between two slices a pause: the longer, the more there is to tell to viewers."""

    def __init__(self, ticker: Ticker, failed: Callable[[SharedViewport, Exception], ViewerError]) -> None:
        """`failed` hears of a viewport whose view cannot be built, and says what those who wait for it are told."""
        self._ticker = ticker
        self._failed = failed
        self._wanted: dict[SharedViewport, asyncio.Future[None]] = {}
        self._task: asyncio.Task[None] | None = None

    def want(self, viewport: SharedViewport) -> "asyncio.Future[None]":
        """Done when the viewport is ready, or when nothing of it is built any more; its holders are touched before."""
        if viewport not in self._wanted:
            loop = asyncio.get_running_loop()
            self._wanted[viewport] = loop.create_future()
            if self._task is None:
                self._task = loop.create_task(self._work())
        return self._wanted[viewport]

    def abandon(self, generation: Generation) -> None:
        """Builds nothing of this generation any more: it is about to be taken apart."""
        shares = list(generation.views.values())
        for viewport in [viewport for viewport in self._wanted if viewport.share in shares]:
            self._finish(viewport)

    async def _work(self) -> None:
        while self._wanted:
            for viewport in list(self._wanted):
                if viewport in self._wanted:
                    began = time.perf_counter()
                    self._build(viewport)
                    await asyncio.sleep(min(MOST_PAUSE * (time.perf_counter() - began), self._ticker.behind))
        self._task = None

    def _build(self, viewport: SharedViewport) -> None:
        try:
            if viewport.holders:
                viewport.source.build(BUILD_ROWS)
            if viewport.ready or not viewport.holders:
                self._finish(viewport)
        except Exception as error:
            # Whoever waits for this one is told; the others are built on.
            done, told = self._wanted.pop(viewport), self._failed(viewport, error)
            if not done.done():
                done.set_exception(told)
                # Viewers are told otherwise, and nobody may wait for this.
                done.exception()

    def _finish(self, viewport: SharedViewport) -> None:
        for holder in viewport.holders:
            holder.touched()
        done = self._wanted.pop(viewport)
        if not done.done():
            done.set_result(None)
