"""Accepts connections: who comes is counted before a byte is read, and greets over TLS in a bounded time."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress

from tablecast.login_errors import ConnectionsTooMany
from tablecast.server.answers import raw_answer
from tablecast.server.strangers import Client, Strangers
from tablecast.server.tls import Certificate

log = logging.getLogger(__name__)

AT_ONCE = 32
REST_SECONDS = 0.5
"""After an accept that failed: the process has no file left, and somebody has to go first."""

Make = Callable[[Client], asyncio.Protocol]


class Door:
    """One listening socket. `make` makes the protocol of who comes from an address. Closed as an asyncio.Server is."""

    def __init__(self, listener: socket.socket, make: Make, strangers: Strangers, certificate: Certificate | None, seconds: float) -> None:
        self._listener = listener
        self._make = make
        self._strangers = strangers
        self._certificate = certificate
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._greeting: set[asyncio.Task[None]] = set()
        self._resting: asyncio.TimerHandle | None = None
        self._open()

    def close(self) -> None:
        self._loop.remove_reader(self._listener)
        if self._resting is not None:
            self._resting.cancel()
        for task in self._greeting:
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._greeting, return_exceptions=True)

    def _open(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        """Takes in those who wait, so many of them that others have their turn too."""
        for _ in range(AT_ONCE):
            try:
                wire, place = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                log.warning("[server] a connection cannot be accepted: %s", error.strerror, extra={"event": "accept_failed"})
                self._loop.remove_reader(self._listener)
                self._resting = self._loop.call_later(REST_SECONDS, self._open)
                return
            self._take(wire, (str(place[0]), int(place[1])))

    def _take(self, wire: socket.socket, client: Client) -> None:
        wire.setblocking(False)
        if not self._strangers.come(client):
            self._turn_away(wire)
            return
        task = self._loop.create_task(self._greet(wire, client))
        self._greeting.add(task)
        task.add_done_callback(self._greeting.discard)

    async def _greet(self, wire: socket.socket, client: Client) -> None:
        """Hands the connection over to its protocol. Who cannot speak TLS, or takes too long, is let go: there is no way to tell it anything."""
        tls, patience = (self._certificate.context, self._seconds) if self._certificate is not None else (None, None)
        try:
            await self._loop.connect_accepted_socket(lambda: self._make(client), wire, ssl=tls, ssl_handshake_timeout=patience)
        except (OSError, asyncio.CancelledError):
            self._strangers.go(client)

    def _turn_away(self, wire: socket.socket) -> None:
        with wire, suppress(OSError):
            if self._certificate is None:
                wire.send(raw_answer(ConnectionsTooMany(self._strangers.limit)))
