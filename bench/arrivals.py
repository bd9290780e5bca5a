"""Where a row arrives: in the server's table, in a Python WebSocket client, in the TypeScript client inside Chromium, or in a cell of the page.

Each is a context manager that is watching when it is entered, and tells what arrived, and when, by this machine's clock.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import msgspec
from playwright.sync_api import Page, ViewportSize

from bench.chromium import chromium
from bench.stack import Stack
from bench.subject import Subject
from tablecast.client import connect
from tablecast.errors import ServerUnreachable
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.tables.row import Row
from tablecast.wire.messages import Frame

READY_SECONDS = 60.0
WATCH = (Path(__file__).parent / "arrivals.js").read_text()
PAINTED = (Path(__file__).parent / "painted.js").read_text()
SCREEN: ViewportSize = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Clock:
    """How the clock of the arrivals stands to that of the sender: what was added to it, and how wrong that may be."""

    offset_ms: float = 0.0
    error_ms: float = 0.0


class Arrivals(Protocol):
    """What has arrived so far: the number of each message, and the moment when it was first seen."""

    def count(self) -> int: ...

    def first_seen(self) -> dict[int, float]: ...

    def clock(self) -> Clock: ...


class _Seen:
    """Numbers of messages, as text, by the moment when they were first seen. Filled by one thread, read by another."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns
        self._times: dict[str, float] = {}

    def take(self, row: Mapping[str, Any], now: float) -> None:
        for column in self._columns:
            stamp = row.get(column)
            if stamp is not None:
                self._times.setdefault(stamp, now)

    def count(self) -> int:
        return len(self._times)

    def first_seen(self) -> dict[int, float]:
        return {int(stamp): seen for stamp, seen in self._times.copy().items()}

    def clock(self) -> Clock:
        """The same clock on the same machine."""
        return Clock()


@contextmanager
def in_server(stack: Stack, subject: Subject, window: int) -> Iterator[Arrivals]:
    """In the table of a server's own feed, which runs here for this: no viewer, no window, every row."""
    seen = _Seen(tuple(subject.stamps))
    ready, loop = threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()

    async def follow() -> None:
        hub = Hub()
        async with Feed(stack.kafka, "tablecast", hub).running():
            while hub.generation is None:
                await asyncio.sleep(0.05)
            hub.generation.find(subject.table).table.follow(_RowTimes(seen))
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(follow(),), name="feed")
    thread.start()
    try:
        if not ready.wait(READY_SECONDS):
            raise TimeoutError(f"the feed did not fill within {READY_SECONDS:g} s")
        yield seen
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


class _RowTimes:
    def __init__(self, seen: _Seen) -> None:
        self._seen = seen
        self._decode = msgspec.json.Decoder(dict[str, Any]).decode

    def changed(self, row: Row, before: bytes) -> None:
        """Nothing that is measured leaves a table."""
        self._seen.take(self._decode(row.data), time.time())


@contextmanager
def in_websocket(stack: Stack, subject: Subject, window: int) -> Iterator[Arrivals]:
    """In frames, as the Python client decodes them."""
    seen = _Seen(tuple(subject.stamps))
    viewer = connect(stack.url, stack.key)
    for look in subject.looks:
        viewer.open(subject.table, look.offset, window, sort=look.sort).wait(READY_SECONDS)

    def receive() -> None:
        try:
            while True:
                message = viewer.receive()
                now = time.time()
                if isinstance(message, Frame):
                    for row in message.rows.values():
                        seen.take(row, now)
        except ServerUnreachable:
            return

    thread = threading.Thread(target=receive, name="viewer")
    thread.start()
    try:
        yield seen
    finally:
        viewer.close()
        thread.join()


@contextmanager
def in_browser(stack: Stack, subject: Subject, window: int) -> Iterator[Arrivals]:
    """In the snapshots of the TypeScript client, imported as the server serves it, by an empty page of its origin in headless Chromium."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{stack.url}/healthz")
        page.evaluate(WATCH)
        looks = [
            {"offset": look.offset, "size": window, "sort": [{"column": name, "descending": falling} for name, falling in look.sort]}
            for look in subject.looks
        ]
        what = {"key": stack.key, "table": subject.table, "looks": looks, "columns": list(subject.stamps)}
        page.evaluate("what => arrivals.start(what)", what)
        yield _Tab(page)
        page.evaluate("() => arrivals.stop()")


@contextmanager
def in_cells(stack: Stack, subject: Subject, window: int) -> Iterator[Arrivals]:
    """In the cells of the page, as a person sees them who looks at the newest rows: each at the end of the frame that painted it."""
    with chromium() as browser:
        page = browser.new_page(viewport=SCREEN)
        page.goto(f"{stack.url}/#key={quote(stack.key)}&table={subject.table}")
        page.locator("tbody tr[data-row-id]").first.wait_for()
        page.get_by_role("button", name="Last", exact=True).click()
        page.evaluate(PAINTED)
        page.evaluate("columns => arrivals.start(columns)", list(subject.stamps))
        yield _Tab(page)


class _Tab:
    """The arrivals that a tab has noted."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._clock = ForeignClock(lambda: float(page.evaluate("() => performance.timeOrigin + performance.now()")))

    def count(self) -> int:
        count: int = self._page.evaluate("() => arrivals.stamps.length")
        return count

    def first_seen(self) -> dict[int, float]:
        stamps, times = self._page.evaluate("() => [arrivals.stamps, arrivals.times]")
        offset = self.clock().offset_ms / 1000
        return {int(stamp): at / 1000 + offset for stamp, at in zip(stamps, times, strict=True)}

    def clock(self) -> Clock:
        return self._clock.compared()


class ForeignClock:
    """The clock of another process, in milliseconds. It is compared with ours when this is made, and when it is asked for: it may drift."""

    def __init__(self, theirs: Callable[[], float]) -> None:
        self._theirs = theirs
        self._before = _compare(theirs)

    def compared(self) -> Clock:
        after = _compare(self._theirs)
        drift = abs(after.offset_ms - self._before.offset_ms) / 2
        return Clock((after.offset_ms + self._before.offset_ms) / 2, max(after.error_ms, self._before.error_ms) + drift)


def _compare(theirs: Callable[[], float], tries: int = 50) -> Clock:
    """What is to be added to their clock to get ours. The quickest of some round trips bounds the error by its half."""
    best = Clock(0.0, float("inf"))
    for _ in range(tries):
        asked = time.time() * 1000
        told = theirs()
        answered = time.time() * 1000
        if (answered - asked) / 2 < best.error_ms:
            best = Clock((asked + answered) / 2 - told, (answered - asked) / 2)
    return best


PLACES = {"server": in_server, "websocket": in_websocket, "browser": in_browser, "painted": in_cells}
