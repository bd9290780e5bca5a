"""Many viewers in a process of their own: how long each change took to each of them, and how many frames a second each of them got."""

import asyncio
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvloop

from bench.handmade import STAMP, TABLE
from bench.subject import Look
from bench.tally import Tally
from bench.wire_client import WireClient
from tablecast.wire.messages import Login, Open, Sort, encode

OPEN_SECONDS = 120.0
AT_ONCE = 50
"""Connections that are being opened at the same time."""
_FRAME = b'{"type":"frame"'
_BODY = b'"total"'


@dataclass(frozen=True)
class Heard:
    """What an audience noticed between `begin` and `end`."""

    counts: Sequence[int]
    """Of a `Tally`: from each change to its receipt by each viewer that shows it."""
    frames: Sequence[int]
    """Of each viewer."""
    seconds: float
    megabytes: float
    late: int
    """Frames that the server said had waited for their viewer."""
    lost: int
    """Connections that ended, which none should."""
    cpu_seconds: float

    @property
    def tally(self) -> Tally:
        return Tally(self.counts)

    @property
    def frames_per_second(self) -> list[float]:
        return sorted(count / self.seconds for count in self.frames)


class Audience:
    """Viewers that each look through one window of final_ui, from `with` to its end. `begin` and `end` bound what is measured."""

    def __init__(self, url: str, key: str, looks: Sequence[Look], size: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_watch, args=(url, key, list(looks), size, theirs), name="audience", daemon=True)

    def __enter__(self) -> "Audience":
        self._process.start()
        self._answer("opened", OPEN_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.is_alive():
            self._pipe.send("leave")
        self._process.join(10)
        self._process.kill()

    def begin(self) -> None:
        self._pipe.send("begin")
        self._answer("begun", 30)

    def end(self) -> Heard:
        self._pipe.send("end")
        heard: Heard = self._answer("heard", 60)
        return heard

    def _answer(self, name: str, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while not self._pipe.poll(0.5):
            if time.monotonic() > deadline or not self._process.is_alive():
                raise TimeoutError(f"the audience has not {name} within {seconds:g} s, or died")
        told, value = self._pipe.recv()
        assert told == name, (told, name)
        return value


def _watch(url: str, key: str, looks: list[Look], size: int, pipe: Connection) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_Row(url, key, looks, size).run(pipe))


class _Part(msgspec.Struct):
    """The body of a frame, as far as it matters here."""

    rows: dict[str, dict[str, Any]]
    ids: list[str] | None = None


class _Row:
    """All the seats."""

    def __init__(self, url: str, key: str, looks: Sequence[Look], size: int) -> None:
        self.tally = Tally()
        self.bytes = 0
        self.late = 0
        self.lost = 0
        self.measuring = False
        self._place = urlsplit(url)
        self._key = key
        self._size = size
        self._looks = looks
        self._seats: list[_Seat] = []
        self._decoder = msgspec.json.Decoder(_Part)
        self._parts: dict[bytes, tuple[list[str] | None, list[tuple[str, float]]]] = {}

    async def run(self, pipe: Connection) -> None:
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._sit(look, gate) for look in self._looks))
        pipe.send(("opened", None))
        began = cpu = 0.0
        while True:
            match await asyncio.to_thread(pipe.recv):
                case "begin":
                    self.tally, self.bytes, self.late, self.lost, self.measuring = Tally(), 0, 0, 0, True
                    for seat in self._seats:
                        seat.frames = 0
                    began, cpu = time.monotonic(), time.process_time()
                    pipe.send(("begun", None))
                case "end":
                    self.measuring = False
                    frames = [seat.frames for seat in self._seats]
                    seconds, used = time.monotonic() - began, time.process_time() - cpu
                    pipe.send(("heard", Heard(self.tally.counts, frames, seconds, self.bytes / 1e6, self.late, self.lost, used)))
                case _:
                    return

    async def _sit(self, look: Look, gate: asyncio.Semaphore) -> None:
        async with gate:
            seat = _Seat(self)
            sort = tuple(Sort(column, falling) for column, falling in look.sort)
            first = [encode(Login(self._key)), encode(Open(1, 1, TABLE, look.offset, self._size, sort))]
            loop, host = asyncio.get_running_loop(), self._place.netloc
            await loop.create_connection(lambda: WireClient(host, first, seat.heard, seat.lost), self._place.hostname or "", self._place.port or 0)
            await asyncio.wait_for(seat.shown.wait(), OPEN_SECONDS)
            self._seats.append(seat)

    def parsed(self, body: bytes) -> tuple[list[str] | None, list[tuple[str, float]]]:
        """The order, and the moment of each changed row's change. Viewers of one window get the same bytes: they are parsed once."""
        known = self._parts.get(body)
        if known is None:
            if len(self._parts) > 2000:
                self._parts.clear()
            part = self._decoder.decode(b"{" + body)
            known = self._parts[body] = (part.ids, [(id, float(row[STAMP])) for id, row in part.rows.items()])
        return known


class _Seat:
    """One viewer. A row that comes into its window says nothing about latency, since another row's change may have pushed it in: only a
    row that was there before is counted."""

    def __init__(self, row: _Row) -> None:
        self.frames = 0
        self.shown = asyncio.Event()
        self._row = row
        self._ids: set[str] = set()

    def heard(self, message: bytes) -> None:
        if not message.startswith(_FRAME):
            return
        now, row = time.time(), self._row
        begin = message.index(_BODY)
        ids, changes = row.parsed(message[begin:])
        if row.measuring:
            self.frames += 1
            row.bytes += len(message)
            row.late += b'"late"' in message[:begin]
            for id, moment in changes:
                if id in self._ids:
                    row.tally.take(now - moment)
        if ids is not None:
            self._ids = set(ids)
            self.shown.set()

    def lost(self) -> None:
        self._row.lost += 1
