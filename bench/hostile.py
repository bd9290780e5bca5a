"""Viewers that behave as badly as they can, in a process of their own: what they do must not be felt by the others."""

import asyncio
import multiprocessing
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import permutations, product
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

import uvloop

from bench.handmade import TABLE
from bench.wire_client import WireClient
from tablecast.wire.messages import Login, Open, Ping, Sort, encode

FLAPPERS = 50
FLAP_SECONDS = 0.2
FLOOD_PER_SECOND = 10_000
FLOOD_STEP = 0.01
SORTS = 50
SORT_AGAIN_SECONDS = 10.0
STALLED_WINDOWS = 40
COLUMNS = ("userId", "name", "email", "age", "accountType", "balance")


@dataclass
class Deeds:
    """What they did, to prove that they did it."""

    flaps: int = 0
    flood_messages: int = 0
    flood_connections: int = 0
    sorts: int = 0
    stalled_connections: int = 0
    errors: dict[str, int] = field(default_factory=dict)


class Hostiles:
    """One that stops reading, 50 that flap, one that sends 10,000 messages a second, one that asks for 50 different sorts."""

    def __init__(self, url: str, key: str, size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_behave, args=(url, key, size, theirs), name="hostiles", daemon=True)
        self.deeds = Deeds()

    def __enter__(self) -> "Hostiles":
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.send("leave")
        if self._pipe.poll(10):
            self.deeds = self._pipe.recv()
        self._process.join(10)
        self._process.kill()


def _behave(url: str, key: str, size: int, pipe: Connection) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_Gang(url, key, size).run(pipe))


def sorts(count: int) -> list[tuple[Sort, ...]]:
    """So many different sorts of final_ui."""
    one: list[tuple[Sort, ...]] = [(Sort(column, falling),) for column, falling in product(COLUMNS, (False, True))]
    two: list[tuple[Sort, ...]] = [(Sort(a, falling), Sort(b)) for (a, b), falling in product(permutations(COLUMNS, 2), (False, True))]
    return (one + two)[:count]


class _Gang:
    def __init__(self, url: str, key: str, size: int) -> None:
        self._place = urlsplit(url)
        self._login = encode(Login(key))
        self._size = size
        self._deeds = Deeds()

    async def run(self, pipe: Connection) -> None:
        deeds: list[Callable[[], Awaitable[None]]] = [self._stall, self._flood, self._sort, *[self._flap] * FLAPPERS]
        tasks = [asyncio.ensure_future(self._again(deed)) for deed in deeds]
        await asyncio.to_thread(pipe.recv)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        pipe.send(self._deeds)

    async def _again(self, deed: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await deed()
            except OSError as error:
                name = type(error).__name__
                self._deeds.errors[name] = self._deeds.errors.get(name, 0) + 1
                await asyncio.sleep(FLAP_SECONDS)

    async def _dial(self, first: list[bytes], heard: Callable[[bytes], None], **options: Any) -> tuple[WireClient, asyncio.Event]:
        """A connection that says `first`, and the event of its end."""
        over = asyncio.Event()
        loop, host = asyncio.get_running_loop(), self._place.netloc
        if not options:
            options = {"host": self._place.hostname, "port": self._place.port}
        _, client = await loop.create_connection(lambda: WireClient(host, first, heard, over.set), **options)
        return client, over

    async def _flap(self) -> None:
        """Comes, looks, and is gone without a word."""
        shown = asyncio.Event()
        first = [self._login, encode(Open(1, 1, TABLE, 0, self._size))]
        client, over = await self._dial(first, lambda message: shown.set() if b'"rows"' in message else None)
        await _first_of(shown, over)
        if client.transport is not None:
            client.transport.abort()
        self._deeds.flaps += 1
        await asyncio.sleep(FLAP_SECONDS)

    async def _flood(self) -> None:
        """Messages as fast as said, and again as soon as it is thrown out."""
        welcome = asyncio.Event()
        client, over = await self._dial([self._login], lambda message: welcome.set())
        await _first_of(welcome, over)
        self._deeds.flood_connections += 1
        ping = encode(Ping(1))
        began, sent = time.monotonic(), 0
        while not over.is_set():
            while sent < (time.monotonic() - began + FLOOD_STEP) * FLOOD_PER_SECOND:
                client.say(ping)
                sent += 1
            await asyncio.sleep(FLOOD_STEP)
        self._deeds.flood_messages += sent

    async def _sort(self) -> None:
        """Many views at once, each of which the server has to keep; and all of them anew every few seconds."""
        opens = [encode(Open(sub, 1, TABLE, 0, self._size, sort)) for sub, sort in enumerate(sorts(SORTS), 1)]
        client, over = await self._dial([self._login, *opens], lambda message: None)
        self._deeds.sorts += len(opens)
        await asyncio.wait({asyncio.ensure_future(over.wait())}, timeout=SORT_AGAIN_SECONDS)
        if client.transport is not None:
            client.transport.abort()

    async def _stall(self) -> None:
        """Asks for a lot and takes nothing, until it is cut off."""
        handle = socket.create_connection((self._place.hostname or "", self._place.port or 0))
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        handle.setblocking(False)
        opens = [encode(Open(sub, 1, TABLE, 0, 5000 - sub)) for sub in range(1, STALLED_WINDOWS + 1)]
        client, over = await self._dial([self._login, *opens], lambda message: None, sock=handle)
        self._deeds.stalled_connections += 1
        await asyncio.sleep(FLAP_SECONDS)
        assert client.transport is not None
        client.transport.pause_reading()
        while not over.is_set():
            # A socket that is not read notices its end only when it writes.
            await asyncio.sleep(1)
            client.say(encode(Ping(1)))


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waiting, timeout=10, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
