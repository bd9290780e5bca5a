"""Accepts connections: who comes is counted before a byte is read, and greets over TLS in a bounded time."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from tablecast.login_errors import ConnectionsTooMany
from tablecast.server.answers import raw_answer
from tablecast.server.strangers import Client, Strangers

log = logging.getLogger(__name__)

REST_SECONDS = 0.5
"""After an accept that failed: the process has no file left, and somebody has to go first."""

Make = Callable[[Client], asyncio.Protocol]


class Door:
    """One listening socket. `make` makes the protocol of who comes from an address. Closed as an asyncio.Server is."""

    def __init__(self, listener: socket.socket, make: Make, strangers: Strangers, tls: ssl.SSLContext | None, seconds: float) -> None:
        self._listener = listener
        self._make = make
        self._strangers = strangers
        self._tls = tls
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._greeting: set[asyncio.Task[None]] = set()
        self._accepting = self._loop.create_task(self._accept())

    def close(self) -> None:
        for task in (self._accepting, *self._greeting):
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(self._accepting, *self._greeting, return_exceptions=True)

    async def _accept(self) -> None:
        while True:
            try:
                wire, place = await self._loop.sock_accept(self._listener)
            except OSError as error:
                log.warning("[server] a connection cannot be accepted: %s", error.strerror, extra={"event": "accept_failed"})
                await asyncio.sleep(REST_SECONDS)
                continue
            client = (str(place[0]), int(place[1]))
            if not self._strangers.come(client):
                self._turn_away(wire)
                continue
            task = self._loop.create_task(self._greet(wire, client))
            self._greeting.add(task)
            task.add_done_callback(self._greeting.discard)

    async def _greet(self, wire: socket.socket, client: Client) -> None:
        """Hands the connection over to its protocol. Who cannot speak TLS, or takes too long, is let go: there is no way to tell it anything."""
        patience = self._seconds if self._tls is not None else None
        try:
            await self._loop.connect_accepted_socket(lambda: self._make(client), wire, ssl=self._tls, ssl_handshake_timeout=patience)
        except (OSError, asyncio.CancelledError):
            self._strangers.go(client)

    def _turn_away(self, wire: socket.socket) -> None:
        with wire, suppress(OSError):
            if self._tls is None:
                wire.send(raw_answer(ConnectionsTooMany(self._strangers.limit)))
