"""Uvicorn's WebSocket connection with habits of ours: a viewer's messages go to its session at once and not through ASGI, a little at a time; what is
said to it is written at once, with little in the kernel's keeping; our own close codes; a real end for who does not read."""

import asyncio
import socket
import time
from asyncio.transports import BaseTransport
from collections import deque
from collections.abc import Callable
from typing import ClassVar, Protocol

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import PayloadTooBig
from websockets.frames import Close, Frame, Opcode

from tablecast.errors import MessageTooLarge, ViewerError
from tablecast.server.answers import raw_answer
from tablecast.server.strangers import Strangers
from tablecast.wire.messages import PROTOCOL, Error, encode

PATH = "/ws"
GOING_AWAY = 1001
UNSENT_BYTES = 65_536
"""What the kernel keeps of a connection that cannot be sent yet: more would be a queue of old frames for a slow viewer."""
PIECE_BYTES = 1024
"""Read in one step: what comes at once may hold thousands of messages."""
TURN_SECONDS = 0.001
"""For one viewer's messages before others have their turn."""

_DISCARD_SECONDS = 5.0
_NOTSENT_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)


class Ear(Protocol):
    """Who hears what a viewer says."""

    def hear(self, message: str | None) -> None:
        """One message; None if it was no text."""

    def wait(self) -> float:
        """After how many seconds there may be a next one; infinite until `read_on` is called."""

    def spend(self, seconds: float) -> None:
        """How long it took to read and to hear."""

    def lost(self) -> None:
        """The connection is over."""


class Host(Protocol):
    """Who receives viewers."""

    def objection(self, line: "ViewerSocket") -> ViewerError | None:
        """Why this one is not received; None if it is."""

    def attend(self, line: "ViewerSocket") -> Ear: ...


class ViewerSocket(WebSocketsSansIOProtocol):
    """One connection. At PATH it is a viewer's, anywhere else the application answers."""

    host: ClassVar[Host]
    strangers: ClassVar[Strangers]
    on_writable: Callable[[], None]

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.on_writable = _nobody
        self._ear: Ear | None = None
        self._unread: deque[bytes] = deque()
        self._heard: deque[str | None] = deque()
        self._timer: asyncio.Handle | None = None
        handle = transport.get_extra_info("socket")
        if _NOTSENT_LOWAT is not None and handle is not None and handle.family in (socket.AF_INET, socket.AF_INET6):
            handle.setsockopt(socket.IPPROTO_TCP, _NOTSENT_LOWAT, UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.strangers.go(self.client)
        self._forget()
        if self._ear is not None:
            self._ear.lost()
        self.on_writable()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.on_writable()

    @property
    def takes(self) -> bool:
        return self.writable.is_set()

    @property
    def unsent(self) -> int:
        return 0 if self.transport.is_closing() else self.transport.get_write_buffer_size()

    def keepalive_timeout(self) -> None:
        """As long as it has not taken what was sent before the ping, it cannot have answered; whether it takes anything is the courier's to judge."""
        if self.takes:
            super().keepalive_timeout()
        else:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0, self.keepalive_timeout)

    def post(self, message: bytes) -> None:
        """A text message, written at once: a thousand viewers of one frame cost a thousand writes and nothing else."""
        if not (self.close_sent or self.disconnected):
            self.transport.write(_head(len(message)) + message)

    def end(self, code: int) -> None:
        """Says that this is the end, and waits a while for the viewer's answer."""
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.send_close(code)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(self.close_timeout, self.cut_off)
        self._heard.clear()
        self.read_on()

    def cut_off(self) -> None:
        """Ends at once: closing in order would wait for ever until one who does not read has taken the rest."""
        self.transport.abort()

    async def run_asgi(self) -> None:
        if self.scope["path"] != PATH:
            await super().run_asgi()
        elif not self.transport.is_closing():
            objection = self.host.objection(self)
            if objection is None:
                self._accept()
                return
            # There is no socket yet to say it on, so it is an answer of HTTP.
            self.handshake_complete = self.close_sent = True
            self.transport.write(raw_answer(objection))
            self.transport.close()

    def _accept(self) -> None:
        if PROTOCOL in self.scope["subprotocols"]:
            self.response.headers["Sec-WebSocket-Protocol"] = PROTOCOL
        self.handshake_complete = True
        self.conn.send_response(self.response)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.start_keepalive()
        self._ear = self.host.attend(self)
        self.read_on()

    def data_received(self, data: bytes) -> None:
        if self.conn.parser_exc is not None:
            self.conn.receive_data(data)
        elif self._ear is None:
            super().data_received(data)
        else:
            self._unread.extend(data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES))
            if self._timer is None:
                self.read_on()

    def read_on(self) -> None:
        """Hands on what has come, a little of it in each turn and no sooner than its ear wants; until all is handed on nothing more is read."""
        self._stop_timer()
        if self._ear is None or self.disconnected:
            return
        began = time.perf_counter()
        wait = 0.0
        while self._heard or self._unread:
            wait = self._ear.wait() or (TURN_SECONDS if time.perf_counter() - began > TURN_SECONDS else 0.0)
            if wait > 0:
                break
            self._step()
        self._ear.spend(time.perf_counter() - began)
        self._read(not (self._heard or self._unread))
        if 0 < wait < float("inf"):
            self._timer = self.loop.call_later(wait, self.read_on)

    def _step(self) -> None:
        if self._heard:
            assert self._ear is not None
            self._ear.hear(self._heard.popleft())
        else:
            super().data_received(self._unread.popleft())

    def _read(self, more: bool) -> None:
        if more == self.read_paused and not self.transport.is_closing():
            self.read_paused = not more
            if more:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget(self) -> None:
        """Hands on nothing of what is still to be read."""
        self._stop_timer()
        self._unread.clear()
        self._heard.clear()

    def send_receive_event_to_app(self) -> None:
        """Text that is none is handed on as what it is."""
        data, self.frames = b"".join(self.frames), []
        if not self.close_sent:
            try:
                self._heard.append(data.decode() if self.curr_msg_data_type == "text" else None)
            except UnicodeDecodeError:
                self._heard.append(None)

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
        self._forget()
        self._read(True)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.close_timer = asyncio.get_running_loop().call_later(_DISCARD_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        if not self.handshake_complete or self.close_sent:
            super().shutdown()
            return
        self.stop_keepalive()
        self.transport.write(_bytes(Opcode.CLOSE, Close(GOING_AWAY, "the server stops").serialize()))
        self.close_sent = True
        if self.writable.is_set():
            self.transport.close()
        else:
            self.transport.abort()


def _head(size: int) -> bytes:
    """What stands before an unmasked text message of so many bytes (RFC 6455, 5.2)."""
    if size < 126:
        return b"\x81" + size.to_bytes(1, "big")
    return b"\x81\x7e" + size.to_bytes(2, "big") if size < 65_536 else b"\x81\x7f" + size.to_bytes(8, "big")


def _nobody() -> None:
    """Nobody writes yet."""


def _bytes(opcode: Opcode, payload: bytes) -> bytes:
    return Frame(opcode, payload).serialize(mask=False)
