"""One viewer's connection as a state machine: messages in, bytes out, the socket outside.

AWAITING_LOGIN ── login ──> (DECIDING) ──> OPEN ── error with a close code, the end of the login ──> CLOSED
       └───────── anything else, a wrong key, no login in time ─────────────────────────────────────┘

It is DECIDING while a provider is asked about a token.
"""

import asyncio
import time
from collections.abc import Callable
from enum import Enum, auto

from tablecast import __version__
from tablecast.errors import MessagesTooMany, MessageTooLarge, MessageUnreadable, ViewerError
from tablecast.login_errors import LoginRequired, LoginTimeout
from tablecast.server.auth import Entry, Gate
from tablecast.server.hub import Hub
from tablecast.server.outbox import FEED, Outbox
from tablecast.server.rate import Rate
from tablecast.server.subscriptions import Subscriptions
from tablecast.settings import ServerSettings
from tablecast.wire.messages import (
    Close,
    Error,
    Find,
    Limits,
    Login,
    Move,
    Open,
    Ping,
    Pong,
    Shape,
    Took,
    ViewerMessage,
    Welcome,
    decode_viewer,
    encode,
)


class State(Enum):
    AWAITING_LOGIN = auto()
    DECIDING = auto()
    OPEN = auto()
    CLOSED = auto()


LOGIN_BYTES = 16_384
"""Of the first message: a token of many claims has a few thousand."""


class Session:
    """Answers go to `outbox`. Once CLOSED, which `on_close` is told, the socket is to be closed with `close_code` after the outbox is empty; further
    messages are ignored. `admit` may raise before a login is taken, `on_entry` is told of one; while one is DECIDING no message may come."""

    def __init__(self, hub: Hub, gate: Gate, settings: ServerSettings, address: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.state = State.AWAITING_LOGIN
        self.close_code = 1000
        self.entry: Entry | None = None
        self.admit: Callable[[], None] = _nobody
        self.on_entry: Callable[[], None] = _nobody
        self.on_close: Callable[[], None] = _nobody
        self._address = address
        self._deciding: asyncio.Task[None] | None = None
        self.outbox = Outbox(self._cut, hub.counters, clock=clock)
        self.subscriptions = Subscriptions(hub, settings, self.outbox)
        self._hub = hub
        self._gate = gate
        self._settings = settings
        self._clock = clock
        self._rate = Rate(settings.messages_per_second)

    def receive(self, data: str | bytes) -> None:
        """Takes one message. What is wrong with it is answered; nothing is raised."""
        if self.state is State.CLOSED:
            return
        try:
            self._take(self._decoded(data))
        except ViewerError as error:
            self.refuse(error)

    def refuse(self, error: ViewerError, sub: int | None = None) -> None:
        """Answers with an error, which ends the session if the error has a close code."""
        if self.state is State.CLOSED:
            return
        self._hub.counters.refused[error.code] += 1
        self.outbox.put(encode(Error.of(error, sub)))
        if error.close_code is not None:
            self.close(error.close_code)

    def expire(self) -> None:
        """The time for the login is over."""
        if self.state in (State.AWAITING_LOGIN, State.DECIDING):
            self.refuse(LoginTimeout(self._settings.login_seconds))

    def review(self) -> None:
        """Ends the session when its login is not good any more."""
        if self.entry is not None:
            try:
                self._gate.review(self.entry)
            except ViewerError as error:
                self.refuse(error)

    def close(self, code: int) -> None:
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self.close_code = code
            if self._deciding is not None:
                self._deciding.cancel()
            self.subscriptions.leave()
            self.on_close()

    def feed_changed(self) -> None:
        if self.state is State.OPEN:
            self.outbox.mark(FEED)

    def flipped(self) -> None:
        self.subscriptions.flipped()

    def _decoded(self, data: str | bytes) -> ViewerMessage:
        size = len(data) if isinstance(data, bytes) or data.isascii() else len(data.encode("utf-8", "surrogatepass"))
        limit = self._settings.message_bytes if self.state is State.OPEN else min(LOGIN_BYTES, self._settings.message_bytes)
        if size > limit:
            raise MessageTooLarge(size, limit)
        if not self._rate.allows(self._clock()):
            raise MessagesTooMany(self._settings.messages_per_second)
        return decode_viewer(data)

    def _take(self, message: ViewerMessage) -> None:
        match message:
            case _ if self.state is State.AWAITING_LOGIN:
                self._login(message)
            case _ if self.state is State.DECIDING:
                raise LoginRequired
            case Open():
                self._about(message.sub, lambda: self.subscriptions.open(message))
            case Move() | Shape():
                self._about(message.sub, lambda: self.subscriptions.look(message))
            case Find():
                self._about(message.sub, lambda: self.subscriptions.seek(message))
            case Close():
                self._about(message.sub, lambda: self.subscriptions.close(message.sub))
            case Took():
                # One for each frame that was sent comes by itself, and is no flood.
                if self.subscriptions.took(message):
                    self._rate.forgive()
            case Ping():
                self.outbox.put(encode(Pong(message.id)))
            case Login():
                raise MessageUnreadable("a login came, but this connection is logged in already")

    def _login(self, message: ViewerMessage) -> None:
        if not isinstance(message, Login):
            raise LoginRequired
        entry = self._gate.check(message.key, self._address)
        if entry is None:
            self.state = State.DECIDING
            self._deciding = asyncio.get_running_loop().create_task(self._decide(message.key))
        else:
            self._enter(entry)

    async def _decide(self, key: str) -> None:
        try:
            entry = await self._gate.decide(key, self._address)
            self._deciding = None
            self._enter(entry)
        except ViewerError as error:
            self._deciding = None
            self.refuse(error)

    def _enter(self, entry: Entry) -> None:
        self.admit()
        self.state = State.OPEN
        self.entry = entry
        limits = Limits(self._settings.window_rows, self._settings.subscriptions, self._settings.message_bytes)
        self.outbox.put(encode(Welcome(__version__, limits, entry.role)))
        self.outbox.mark(FEED)
        self.on_entry()

    def _about(self, sub: int, step: Callable[[], None]) -> None:
        """An error of this step is about the subscription, not about the connection."""
        try:
            step()
        except ViewerError as error:
            self.refuse(error, sub)

    def _cut(self, sub: int, waited: float) -> list[bytes]:
        if sub == FEED:
            return [encode(self._hub.feed)]
        messages = self.subscriptions.cut(sub, waited)
        self._hub.counters.frames += bool(messages)
        return messages


def _nobody() -> None:
    """Nobody has to hear of the end."""
