"""A WebSocket viewer that costs as little as it can, so that a thousand of them leave the machine to the server."""

import asyncio
import base64
import os
from collections.abc import Callable
from typing import cast

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_HEAD_END = b"\r\n\r\n"


class WireClient(asyncio.Protocol):
    """Says `first` once the socket is open. `heard` gets each text message, `lost` is called when the connection is over."""

    def __init__(self, host: str, first: list[bytes], heard: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self.transport: asyncio.Transport | None = None
        self._host = host
        self._first = first
        self._heard = heard
        self._lost = lost
        self._open = False
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport = cast(asyncio.Transport, transport)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            "GET /ws HTTP/1.1",
            f"Host: {self._host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: tablecast.v1",
        )
        transport.write("\r\n".join(lines).encode() + _HEAD_END)

    def say(self, message: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(masked(_TEXT, message))

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost()

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._open:
            head, end, rest = self._buffer.partition(_HEAD_END)
            if not end:
                return
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                raise ConnectionError(f"the server did not open the socket: {head[:100]!r}")
            self._open, self._buffer = True, rest
            for message in self._first:
                self.say(message)
        self._buffer = self._buffer[self._take_messages() :]

    def _take_messages(self) -> int:
        """Hears every whole message of the buffer, and says where the first one begins that is not whole."""
        buffer, start = self._buffer, 0
        while message := next_message(buffer, start):
            opcode, begin, start = message
            if opcode == _TEXT:
                self._heard(buffer[begin:start])
            elif opcode == _PING and self.transport is not None:
                self.transport.write(masked(_PONG, buffer[begin:start]))
            elif opcode == _CLOSE and self.transport is not None:
                self.transport.close()
        return start


def next_message(buffer: bytes, start: int) -> tuple[int, int, int] | None:
    """Opcode, and where the payload begins and ends, of the unmasked message at `start`; None when it is not whole yet."""
    if len(buffer) - start < 2:
        return None
    length, begin = buffer[start + 1], start + 2
    if length > 125:
        size = 2 if length == 126 else 8
        if len(buffer) < begin + size:
            return None
        length, begin = int.from_bytes(buffer[begin : begin + size], "big"), begin + size
    return (buffer[start] & 0x0F, begin, begin + length) if len(buffer) >= begin + length else None


def masked(opcode: int, payload: bytes) -> bytes:
    """As clients must send it, with a mask of zeros, which leaves the payload as it is."""
    size = len(payload)
    if size < 126:
        length = (0x80 | size).to_bytes(1, "big")
    else:
        length = b"\xfe" + size.to_bytes(2, "big") if size < 65_536 else b"\xff" + size.to_bytes(8, "big")
    return bytes((0x80 | opcode,)) + length + bytes(4) + payload
