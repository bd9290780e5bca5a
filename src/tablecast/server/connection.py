"""Between a socket and a session: reads messages in, sends the outbox out."""

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

from tablecast.errors import MessageUnreadable, SessionsTooMany
from tablecast.server.auth import Gate
from tablecast.server.hub import Hub
from tablecast.server.session import Session, State
from tablecast.settings import ServerSettings
from tablecast.wire.messages import PROTOCOL


class Reception:
    """Takes in viewers, up to the limit."""

    def __init__(self, hub: Hub, gate: Gate, settings: ServerSettings) -> None:
        self._hub = hub
        self._gate = gate
        self._settings = settings

    async def attend(self, socket: WebSocket) -> None:
        """One viewer, from the first byte to the last."""
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)
        session = Session(self._hub, self._gate, self._settings)
        if len(self._hub.audience) >= self._settings.sessions:
            session.refuse(SessionsTooMany(self._settings.sessions))
        else:
            self._hub.audience.add(session)
        deadline = asyncio.get_running_loop().call_later(self._settings.login_seconds, session.expire)
        try:
            await self._converse(socket, session)
        finally:
            deadline.cancel()
            self._hub.audience.discard(session)
            session.close(1000)

    async def _converse(self, socket: WebSocket, session: Session) -> None:
        """Ends when the viewer is gone, or when the session is closed and its last words are sent, or when the viewer takes nothing for too long."""
        reading = asyncio.create_task(_read(socket, session))
        sending = asyncio.create_task(self._send(socket, session))
        try:
            while not sending.done() and not (reading.done() and session.state is not State.CLOSED):
                waited = {sending} if reading.done() else {sending, reading}
                await asyncio.wait(waited, timeout=self._settings.stalled_seconds / 4, return_when=asyncio.FIRST_COMPLETED)
                if session.outbox.stalled_for() > self._settings.stalled_seconds:
                    self._hub.counters.stalled += 1
                    break
        finally:
            reading.cancel()
            sending.cancel()
            results = await asyncio.gather(reading, sending, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
                raise result

    async def _send(self, socket: WebSocket, session: Session) -> None:
        outbox = session.outbox
        while True:
            messages = outbox.take()
            if messages:
                outbox.sending()
                for message in messages:
                    await socket.send_text(message.decode())
                outbox.sent()
                self._hub.counters.messages += len(messages)
            elif session.state is State.CLOSED:
                await socket.close(session.close_code)
                return
            else:
                await outbox.wait()


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
