"""Uvicorn's HTTP connection with habits of ours: who says nothing, sends too much, or does not come to the end of a request is closed, and told why
where there is somebody to tell; who does not take an answer is cut off; and who has just come waits for its turn."""

import asyncio
import logging
import time
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tablecast.errors import ViewerError
from tablecast.login_errors import BodyTimeout, BodyTooLarge, HeadTimeout, HeadTooLarge, RequestUnreadable
from tablecast.server.answers import raw_answer
from tablecast.server.strangers import Client, Strangers
from tablecast.server.turnstile import Turnstile
from tablecast.server.viewer_socket import ViewerSocket

HEAD_BYTES = 65_536
DISCARD_SECONDS = 1.0
"""For what still comes after a refusal: to close at once would reset the connection, and the other side would not learn why."""

# What a stranger sends shall not fill the log.
_quiet = logging.getLogger(f"{__name__}.requests")
_quiet.setLevel(logging.ERROR)


class HttpSocket(HttpToolsProtocol):
    """One connection. Without this, anybody could hold connections and fill the memory without a key."""

    head_seconds: ClassVar[float] = 10.0
    """How long the head of a request may take, from the connection or its first byte on, and then its body."""
    body_bytes: ClassVar[int] = 65_536
    stalled_seconds: ClassVar[float] = 60.0
    turnstile: ClassVar[Turnstile]
    strangers: ClassVar[Strangers]

    came_from: Client
    """As it was accepted: a connection that is lost early cannot tell any more."""
    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _head = 0
    """Bytes of a head that is not whole yet."""
    _in_head = False
    _in_body = False
    _body = 0
    _refused = False
    _entered = False
    _early = b""
    """What came before its turn."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self.client = self.came_from
        self.logger = _quiet
        self.turnstile.admit(self._enter)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        self.strangers.go(self.client)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._entered:
            # Only now: reading cannot be put off before it has begun.
            self._early = data
            self.transport.pause_reading()
            return
        if self._refused:
            return
        began = time.perf_counter()
        super().data_received(data)
        self.turnstile.spend(time.perf_counter() - began)
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.turn_away(HeadTooLarge(HEAD_BYTES))

    def handle_websocket_upgrade(self) -> None:
        super().handle_websocket_upgrade()
        line = self.transport.get_protocol()
        if isinstance(line, ViewerSocket):
            line.client = self.came_from

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if not self._in_head:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()
        if not self.parser.should_upgrade():
            self._body = 0
            self._in_body = True
            self._deadline = self.loop.call_later(self.head_seconds, self.turn_away, BodyTimeout(self.head_seconds))

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if self._body > self.body_bytes:
            self.turn_away(BodyTooLarge(self.body_bytes))
        elif not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self.turn_away(RequestUnreadable())

    def turn_away(self, error: ViewerError) -> None:
        """Says why, unless this request is answered already, and ends the connection."""
        answered = self._in_body and self.cycle.response_started
        self._stop_waiting()
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self.cycle is not None:
            # Nobody waits for an answer of the application any more.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if answered:
            self.transport.close()
            return
        self.transport.write(raw_answer(error))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(DISCARD_SECONDS, self.transport.close)

    def _enter(self) -> None:
        self._entered = True
        if self.transport.is_closing():
            return
        self._await_head()
        if self._early:
            early, self._early = self._early, b""
            self.transport.resume_reading()
            self.data_received(early)

    def _await_head(self) -> None:
        self._head = 0
        self._in_head = True
        self._deadline = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        """One that has said nothing is a browser's that it opened in case."""
        if self._head:
            self.turn_away(HeadTimeout(self.head_seconds))
        else:
            self.transport.close()

    def _stop_waiting(self) -> None:
        self._in_head = self._in_body = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
