"""Between a socket and a session: reads messages in, and has the outbox carried out."""

import asyncio
import logging
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from tablecast.errors import MessageUnreadable, SessionsTooMany
from tablecast.server.auth import Gate
from tablecast.server.courier import Courier, Rounds
from tablecast.server.hub import Hub
from tablecast.server.session import Session, State
from tablecast.server.viewer_socket import line_of
from tablecast.settings import ServerSettings
from tablecast.wire.messages import PROTOCOL

log = logging.getLogger(__name__)


class Reception:
    """Takes in viewers, up to the limit."""

    def __init__(self, hub: Hub, gate: Gate, settings: ServerSettings) -> None:
        self._hub = hub
        self._gate = gate
        self._settings = settings
        self._rounds = Rounds()

    async def attend(self, socket: WebSocket) -> None:
        """One viewer, from the first byte to the last."""
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)
        session = Session(self._hub, self._gate, self._settings)
        courier = Courier(session.outbox, line_of(socket.scope), self._rounds, self._hub.counters, self._settings.stalled_seconds)
        session.on_close = courier.finish
        if len(self._hub.audience) >= self._settings.sessions:
            session.refuse(SessionsTooMany(self._settings.sessions))
        else:
            self._hub.audience.add(session)
            self._hub.counters.sessions += 1
        deadline = asyncio.get_running_loop().call_later(self._settings.login_seconds, session.expire)
        try:
            await _converse(socket, session, courier)
        finally:
            deadline.cancel()
            self._hub.audience.discard(session)
            session.close(1000)
            courier.leave()


async def _converse(socket: WebSocket, session: Session, courier: Courier) -> None:
    """Ends when the viewer is gone, or when the session is closed and its last words are sent, or when the viewer takes nothing for too long."""
    reading = asyncio.create_task(_read(socket, session))
    try:
        await asyncio.wait((reading, courier.done), return_when=asyncio.FIRST_COMPLETED)
        if session.state is State.CLOSED:
            await courier.done
    finally:
        reading.cancel()
        [result] = await asyncio.gather(reading, return_exceptions=True)
    if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
        raise result
    if courier.stalled:
        place = socket.client.host if socket.client else "?"
        log.info("[server] a viewer at %s took nothing of what was sent to it, and is cut off", place, extra={"event": "stalled", "viewer": place})
    elif session.state is State.CLOSED:
        with suppress(WebSocketDisconnect):
            await socket.close(session.close_code)


async def _read(socket: WebSocket, session: Session) -> None:
    while session.state is not State.CLOSED:
        await session.outbox.room()
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is None:
            session.refuse(MessageUnreadable("it is binary, and every message is text"))
        else:
            session.receive(text)
