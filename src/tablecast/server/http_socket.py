"""Uvicorn's HTTP connection with two habits of ours: who says nothing, or does not come to the end of a request's head, is closed; and who has just
come waits for its turn."""

import asyncio
import time
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tablecast.server.turnstile import Turnstile

HEAD_BYTES = 65_536


class HttpSocket(HttpToolsProtocol):
    """One connection. Without this, anybody could hold connections and fill the memory without a key."""

    head_seconds: ClassVar[float] = 10.0
    """How long the head of a request may take, from the connection or its first byte on."""
    turnstile: ClassVar[Turnstile]

    _deadline: asyncio.TimerHandle | None = None
    _head = 0
    """Bytes of a head that is not whole yet."""
    _entered = False
    _early = b""
    """What came before its turn."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self.turnstile.admit(self._enter)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._entered:
            # Only now: reading cannot be put off before it has begun.
            self._early = data
            self.transport.pause_reading()
            return
        began = time.perf_counter()
        super().data_received(data)
        self.turnstile.spend(time.perf_counter() - began)
        if self._deadline is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self.send_400_response(f"The head of a request is over {HEAD_BYTES} bytes.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._deadline is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

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
        self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
