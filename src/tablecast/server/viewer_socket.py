"""Uvicorn's WebSocket connection with five habits of ours: messages that are written at once, little in the kernel's keeping, our own close codes,
a real end for who does not read, and an answer to text that is none."""

import asyncio
import socket
from asyncio.transports import BaseTransport
from collections.abc import Callable, Mapping
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import PayloadTooBig
from websockets.frames import Close, Frame, Opcode

from tablecast.errors import MessageTooLarge
from tablecast.wire.messages import Error, encode

GOING_AWAY = 1001
UNSENT_BYTES = 65_536
"""What the kernel keeps of a connection that cannot be sent yet: more would be a queue of old frames for a slow viewer."""

_DISCARD_SECONDS = 5.0
_EXTENSION = "tablecast.line"
_NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)


def line_of(scope: Mapping[str, Any]) -> "ViewerSocket":
    """The socket behind an ASGI scope, for writing to it past ASGI."""
    line = scope["extensions"][_EXTENSION]
    assert isinstance(line, ViewerSocket)
    return line


class ViewerSocket(WebSocketsSansIOProtocol):
    """One connection at `/ws`."""

    on_writable: Callable[[], None]

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.on_writable = _nobody
        handle = transport.get_extra_info("socket")
        if _NOTSENT_LOWAT is not None and handle is not None and handle.family in (socket.AF_INET, socket.AF_INET6):
            handle.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.on_writable()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.on_writable()

    @property
    def takes(self) -> bool:
        return self.writable.is_set()

    def post(self, message: bytes) -> None:
        """A text message, written at once: a thousand viewers of one frame cost a thousand writes and nothing else."""
        if not (self.close_sent or self.disconnected):
            self.transport.write(_head(len(message)) + message)

    async def send(self, message: Any) -> None:
        if self.close_sent:
            raise ClientDisconnected
        await super().send(message)

    async def run_asgi(self) -> None:
        """One who does not read is cut off: closing in order would wait for ever until the rest is taken."""
        self.scope["extensions"] = {**(self.scope.get("extensions") or {}), _EXTENSION: self}  # type: ignore[dict-item]
        await super().run_asgi()
        if not self.writable.is_set():
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.conn.parser_exc is not None:
            self.conn.receive_data(data)
            return
        super().data_received(data)

    def send_receive_event_to_app(self) -> None:
        """Text that is none goes on as bytes, and is answered as such; uvicorn would log where it failed to decode it."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.curr_msg_data_type = "bytes"
        super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        """A message over the limit is known by its first bytes and never kept. What still comes of it is thrown away for a while:
        to close at once would reset the connection, and the viewer would not learn why."""
        problem = self.conn.parser_exc
        if not isinstance(problem, PayloadTooBig):
            super().handle_parser_exception()
            return
        self.conn.data_to_send()
        error = MessageTooLarge(problem.size or problem.max_size + 1, problem.max_size)
        close = Close(error.close_code or 0, error.code)
        self.transport.write(_bytes(Opcode.TEXT, encode(Error.of(error))) + _bytes(Opcode.CLOSE, close.serialize()))
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": close.code, "reason": close.reason})
        self._discard()

    def shutdown(self) -> None:
        if not self.handshake_complete or self.close_sent:
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": GOING_AWAY})
        self.transport.write(_bytes(Opcode.CLOSE, Close(GOING_AWAY, "the server stops").serialize()))
        self.close_sent = True
        if self.writable.is_set():
            self.transport.close()
        else:
            self.transport.abort()

    def _discard(self) -> None:
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.close_timer = asyncio.get_running_loop().call_later(_DISCARD_SECONDS, self.transport.abort)


def _head(size: int) -> bytes:
    """What stands before an unmasked text message of so many bytes (RFC 6455, 5.2)."""
    if size < 126:
        return b"\x81" + size.to_bytes(1, "big")
    return b"\x81\x7e" + size.to_bytes(2, "big") if size < 65_536 else b"\x81\x7f" + size.to_bytes(8, "big")


def _nobody() -> None:
    """Nobody writes yet."""


def _bytes(opcode: Opcode, payload: bytes) -> bytes:
    return Frame(opcode, payload).serialize(mask=False)
