"""Uvicorn's WebSocket connection with three habits of ours: back-pressure, our own close codes, and a real end for who does not read."""

import asyncio
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import PayloadTooBig
from websockets.frames import Close, Frame, Opcode

from tablecast.errors import MessageTooLarge
from tablecast.wire.messages import Error, encode

GOING_AWAY = 1001
_DISCARD_SECONDS = 5.0


class ViewerSocket(WebSocketsSansIOProtocol):
    """One connection at `/ws`."""

    async def send(self, message: Any) -> None:
        """Returns when the connection can take more, so that the next frame is cut only then."""
        if self.close_sent:
            raise ClientDisconnected
        await super().send(message)
        await self.writable.wait()

    async def run_asgi(self) -> None:
        """One who does not read is cut off: closing in order would wait for ever until the rest is taken."""
        await super().run_asgi()
        if not self.writable.is_set():
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.conn.parser_exc is not None:
            self.conn.receive_data(data)
            return
        super().data_received(data)

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


def _bytes(opcode: Opcode, payload: bytes) -> bytes:
    return Frame(opcode, payload).serialize(mask=False)
