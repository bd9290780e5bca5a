"""Viewers by WebSocket that note when each frame came, of which generation, and everything that should never come."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import uvloop

from bench.subject import TAIL, TOP, Look
from bench.wire_client import WireClient
from tablecast.errors import MessageUnreadable
from tablecast.wire.messages import Error, Frame, Login, Open, Sort, decode_server, encode

WINDOW = 100
BACKOFF_SECONDS = 0.2
POLL_SECONDS = 0.05
LOOKS: tuple[tuple[str, Look], ...] = (("users_ui", TAIL), ("final_ui", TAIL), ("user_account", TAIL), ("final_ui", TOP), ("account", TAIL))


@dataclass
class Sight:
    """What one viewer has seen. Filled by one thread, read by another."""

    table: str
    look: Look
    frames: list[tuple[float, int]] = field(default_factory=list)
    """When each frame came, and of which generation."""
    first: dict[int, float] = field(default_factory=dict)
    """Generation to the moment of its first frame."""
    pairs: dict[int, set[int]] = field(default_factory=dict)
    """Generation to the pairs of topics that its rows were of."""
    numbers: dict[int, float] = field(default_factory=dict)
    """When the number of a message was first seen."""
    blank: int = 0
    mixed: int = 0
    errors: list[str] = field(default_factory=list)
    connects: int = 0

    def shows(self, generation: int) -> float | None:
        """When the first frame of this generation, or of a newer one, came."""
        return min((moment for number, moment in list(self.first.items()) if number >= generation), default=None)

    def hear(self, message: bytes) -> None:
        """What a server says that is no answer, no frame and no error is told as an error too."""
        now = time.time()
        try:
            received = decode_server(message)
            if isinstance(received, Frame):
                self.take(received, now)
            elif isinstance(received, Error):
                self.errors.append(f"{received.code}: {received.message}")
        except (MessageUnreadable, KeyError, ValueError) as error:
            self.errors.append(repr(error))

    def take(self, frame: Frame, now: float) -> None:
        first = frame.generation not in self.first
        self.first.setdefault(frame.generation, now)
        if frame.total == 0 or frame.ids == () or (first and not frame.rows):
            self.blank += 1
        self.frames.append((now, frame.generation))
        shown = {number for row in frame.rows.values() for number in _numbers(row)}
        for number in shown:
            self.numbers.setdefault(number, now)
        pairs = {number % 2 for number in shown}
        known = self.pairs.setdefault(frame.generation, set())
        known |= pairs
        self.mixed += len(known) > 1


def _numbers(row: dict[str, object]) -> list[int]:
    return [int(str(row[column])) for column in ("name", "accountType") if row.get(column) is not None]


class Crowd:
    """`count` viewers in a thread, each at one window of one table, from `with` to its end. One that is cut off comes back, and is counted."""

    def __init__(self, url: str, key: str, count: int) -> None:
        self.sights = [Sight(*LOOKS[index % len(LOOKS)]) for index in range(count)]
        self._place = urlsplit(url)
        self._key = key
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="crowd", daemon=True)
        self._ended = asyncio.Event()

    def __enter__(self) -> "Crowd":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    def shown(self, generation: int) -> list[float]:
        """When each viewer that shows this generation, or a newer one, began to."""
        return [moment for sight in self.sights if (moment := sight.shows(generation)) is not None]

    def wait_for(self, generation: int, seconds: float) -> None:
        """Until all viewers show it. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while (count := len(self.shown(generation))) < len(self.sights):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{count} of {len(self.sights)} viewers show generation {generation} after {seconds:g} s")
            time.sleep(POLL_SECONDS)

    def _run(self) -> None:
        self._loop.run_until_complete(self._watch_all())
        self._loop.close()

    async def _watch_all(self) -> None:
        watching = [asyncio.create_task(self._watch(sight)) for sight in self.sights]
        await self._ended.wait()
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)

    async def _watch(self, sight: Sight) -> None:
        sort = tuple(Sort(column, descending) for column, descending in sight.look.sort)
        first = [encode(Login(self._key)), encode(Open(1, 1, sight.table, sight.look.offset, WINDOW, sort=sort))]
        while True:
            over = asyncio.Event()
            viewer: Callable[[], WireClient] = partial(WireClient, self._place.netloc, first, sight.hear, over.set)
            try:
                _, client = await self._loop.create_connection(viewer, self._place.hostname or "", self._place.port or 0)
            except OSError as error:
                sight.errors.append(str(error))
            else:
                sight.connects += 1
                try:
                    await over.wait()
                finally:
                    client.close()
                sight.errors.append("the connection ended")
            await asyncio.sleep(BACKOFF_SECONDS)
