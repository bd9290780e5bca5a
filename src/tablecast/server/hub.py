"""What all viewers of a server share: the generation that is shown, the state of the feed, and the moment of a change."""

import asyncio
import logging
import time
from collections.abc import Set
from typing import Protocol

from tablecast.errors import NotReady, ViewerError, ViewFailed, ViewsTooMany
from tablecast.kafka.status import GenerationStatus
from tablecast.server.builder import BUILD_ROWS, Builder
from tablecast.server.counters import Counters
from tablecast.server.ticker import Ticker
from tablecast.tables.generation import Generation, SharedViewport, SharedViews
from tablecast.tables.live_table import TRIM_ROWS
from tablecast.tables.view import ViewSpec
from tablecast.wire.messages import Feed, FeedState

log = logging.getLogger(__name__)

MOST_VIEWS = 256
UPKEEP_ROWS = 250
UPKEEP_SECONDS = 0.002
_RESTART = 1012


class Audience(Protocol):
    """A viewer, as the hub sees one."""

    def feed_changed(self) -> None: ...

    def flipped(self) -> None: ...

    def close(self, code: int) -> None: ...


class Hub:
    """Belongs to the event loop: nothing here is called from another thread, but for `wanted`."""

    def __init__(self, most_views: int = MOST_VIEWS) -> None:
        self.generation: Generation | None = None
        self.feed = Feed("filling", "Nothing has been read yet.")
        self.statuses: tuple[GenerationStatus, ...] = ()
        self.audience: set[Audience] = set()
        self.counters = Counters()
        self._ticker = Ticker(self._tick, took=self.counters.ticks.take)
        self._builder = Builder(self._ticker, self.break_off)
        self._most_views = most_views
        self._keeping_up = False

    def current(self) -> Generation:
        """The generation that is shown. Raises NotReady before there is one."""
        if self.generation is None:
            raise NotReady((self.feed.message or "they are being filled").rstrip("."))
        return self.generation

    def admit(self, table: str, spec: ViewSpec) -> None:
        """Raises ViewsTooMany for a view that nobody has yet while there are as many as there may be, and UnknownTable."""
        if self.generation is None or spec.natural or spec in self.generation.find(table).specs():
            return
        if sum(not known.natural for views in self.generation.views.values() for known in views.specs()) >= self._most_views:
            raise ViewsTooMany(self._most_views)

    def touch(self) -> None:
        """Tables have changed: viewers are told soon."""
        self._ticker.touch()

    def carried(self, seconds: float) -> None:
        """What it took to tell viewers: the next time waits the longer, the more that was."""
        self._ticker.charge(seconds)

    def say(self, state: FeedState, message: str | None = None) -> None:
        """What is known of the feed; viewers hear of it when it is something new."""
        if self.feed != Feed(state, message):
            self.feed = Feed(state, message)
            for viewer in self.audience:
                viewer.feed_changed()

    def flip(self, generation: Generation) -> None:
        """From this instant all tables are those of `generation`, under the same subscriptions."""
        before, self.generation = self.generation, generation
        self.counters.flips += 1
        # A viewer never goes back to an older generation, so where numbers began anew it has to begin anew too.
        begins_anew = before is not None and generation.number < before.number
        for viewer in list(self.audience):
            if begins_anew:
                viewer.close(_RESTART)
            else:
                viewer.flipped()
        if before is not None:
            self._builder.abandon(before)
        for views in generation.views.values():
            views.forget_unused()

    def wanted(self) -> dict[str, Set[ViewSpec]]:
        """The views that are open, by table. May be called from any thread."""
        generation = self.generation
        return {} if generation is None else {name: views.specs() for name, views in generation.views.items()}

    def show(self, viewport: SharedViewport) -> None:
        """Sees to it that the viewport becomes ready; its holders are touched then."""
        if not viewport.ready and len(viewport.table) <= BUILD_ROWS:
            try:
                viewport.source.build(BUILD_ROWS)
            except Exception as error:
                self.break_off(viewport, error)
                return
        if not viewport.ready:
            # What is left to do for a view that is ready is done after ticks.
            self._builder.want(viewport).add_done_callback(lambda _: self.touch())

    async def built(self, viewport: SharedViewport) -> None:
        """Returns when the viewport is ready, or when nobody holds it any more. Others have their turn meanwhile."""
        if not viewport.ready:
            await asyncio.shield(self._builder.want(viewport))

    def trim(self) -> bool:
        """Removes some rows that have become too old; whether there may be more of them. To be called about once a second."""
        tables = self.generation.tables() if self.generation is not None else []
        now = time.time_ns() // 1_000_000
        removed = [table.trim(now) for table in tables]
        if any(removed):
            self.touch()
        return TRIM_ROWS in removed

    def _tick(self) -> None:
        self._tell()
        if not self._keeping_up:
            self._keeping_up = True
            asyncio.get_running_loop().call_later(UPKEEP_SECONDS, self._keep_up)

    def _tell(self) -> None:
        if self.generation is not None:
            for views in self.generation.views.values():
                for viewport in list(views.viewports()):
                    try:
                        viewport.tell()
                    except Exception as error:
                        self.break_off(viewport, error)

    def _keep_up(self) -> None:
        """Does, a little at a time and after the frames have gone out, what views have put off because nobody looks there."""
        self._keeping_up = False
        for share in self.generation.views.values() if self.generation is not None else ():
            for spec, view in share.shown():
                try:
                    done = view.build(UPKEEP_ROWS)
                except Exception as error:
                    self._break_off(share, spec, error)
                    continue
                if not done:
                    self._keeping_up = True
                    asyncio.get_running_loop().call_later(UPKEEP_SECONDS, self._keep_up)
                    return

    def break_off(self, viewport: SharedViewport, error: Exception) -> ViewerError:
        """A view that fails takes nothing else with it. Says what those who look at it are told."""
        return self._break_off(viewport.share, viewport.spec, error)

    def _break_off(self, share: SharedViews, spec: ViewSpec, error: Exception) -> ViewerError:
        name = share.table.name
        view = {"sort": len(spec.sort), "filter": spec.filter is not None, "group": spec.group is not None}
        if isinstance(error, ViewerError):
            log.info("[server] a view of %s is not shown any more: %s", name, error.message, extra={"event": "refused", "table": name, "view": view})
            told = error
        else:
            crash = {"event": "crash", "table": name, "view": view}
            log.error("[server] a view of %s has failed, and is not shown any more", name, extra=crash, exc_info=error)
            told = ViewFailed(name)
        share.break_off(spec, told)
        return told
