"""Carries what is in an outbox to a socket, without a task for each viewer."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Protocol

from tablecast.server.counters import Counters
from tablecast.server.outbox import Outbox

log = logging.getLogger(__name__)


class Line(Protocol):
    """A socket that can be written to at once. `on_writable` is called when it can take more again, and when it is lost."""

    on_writable: Callable[[], None]

    @property
    def takes(self) -> bool:
        """Whether it has room. One that is lost takes everything, to no effect."""

    @property
    def unsent(self) -> int:
        """How many bytes of what was posted still wait to be taken."""

    def post(self, message: bytes) -> None:
        """Sends one text message."""


class Purse(Protocol):
    """How much of the loop's time a viewer may take."""

    def wait(self, now: float) -> float:
        """After how many seconds it may take more."""

    def spend(self, seconds: float, now: float) -> None:
        """`now` by time.perf_counter(), when they are over."""


class Rounds:
    """Lets all couriers that are called in one turn of the loop go in its next turn, by one callback for all of them."""

    def __init__(self, took: Callable[[float], None]) -> None:
        """`took` hears how many seconds each round lasted."""
        self._took = took
        self._called: list[Courier] = []

    def call(self, courier: "Courier") -> None:
        if not self._called:
            asyncio.get_running_loop().call_soon(self._go)
        self._called.append(courier)

    def _go(self) -> None:
        called, self._called = self._called, []
        began = time.perf_counter()
        for courier in called:
            try:
                courier.carry()
            except Exception:
                # Only this viewer is lost: it comes back by itself.
                log.exception("[server] what is new cannot be told to a viewer, and it is cut off", extra={"event": "crash"})
                courier.leave()
        self._took(time.perf_counter() - began)


class Courier:
    """What is in the outbox goes out in the next turn of the loop if the line takes it, else in its newest form as soon as it does.

    A viewer that has taken more of the loop's time than its purse allows rests first, and gets the newest state then.
    `done` is true once the viewer has been told everything after `finish`, or has taken nothing for `patience` seconds: then `stalled` is set.
    """

    def __init__(self, outbox: Outbox, line: Line, rounds: Rounds, counters: Counters, patience: float, purse: Purse) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stalled = False
        self._outbox = outbox
        self._line = line
        self._rounds = rounds
        self._counters = counters
        self._patience = patience
        self._purse = purse
        self._rest: asyncio.TimerHandle | None = None
        self._called = False
        self._finishing = False
        self._timer: asyncio.TimerHandle | None = None
        self._unsent = 0
        """How much it had not taken when the timer was set."""
        outbox.news = self.call
        line.on_writable = self.call

    def call(self) -> None:
        """There may be something to carry, or the line may take it now."""
        if not self._called and self._rest is None:
            self._called = True
            self._rounds.call(self)

    def finish(self) -> None:
        """What is in the outbox now is the last."""
        self._finishing = True
        self.call()

    def leave(self) -> None:
        """Carries nothing any more."""
        self._end()

    def carry(self) -> None:
        """One errand: all answers, or what is new of one subscription. Who has many of them goes once a round: nobody waits for all of them."""
        self._called = False
        if self.done.done():
            return
        if not self._line.takes:
            self._wait()
            return
        self._stop_waiting()
        began = time.perf_counter()
        if (seconds := self._purse.wait(began)) > 0:
            self._rest = asyncio.get_running_loop().call_later(seconds, self._rested)
            return
        for message in self._taken():
            self._line.post(message)
        ended = time.perf_counter()
        self._purse.spend(ended - began, ended)
        if self._outbox.waits or not self._line.takes:
            self.call()
        elif self._finishing:
            self._end()

    def _rested(self) -> None:
        self._rest = None
        self.call()

    def _taken(self) -> list[bytes]:
        messages = self._outbox.take()
        self._counters.messages += len(messages)
        self._counters.bytes += sum(map(len, messages))
        return messages

    def _wait(self) -> None:
        if self._timer is None:
            self._unsent = self._line.unsent
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self._line.unsent < self._unsent:
            # It reads, but slowly: a large window over a thin line takes its time.
            self._wait()
            return
        self.stalled = True
        self._counters.stalled += 1
        self._end()

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self._stop_waiting()
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if not self.done.done():
            self.done.set_result(None)
