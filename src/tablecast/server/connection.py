"""Between a socket and a session: hands messages in, and has the outbox carried out."""

import asyncio
import logging
import time
from collections.abc import Callable

from tablecast.errors import MessageUnreadable, SessionsTooMany, ViewerError
from tablecast.login_errors import OriginRefused
from tablecast.server.addresses import Addresses
from tablecast.server.auth import Gate
from tablecast.server.courier import Courier, Rounds
from tablecast.server.edge import is_allowed
from tablecast.server.hub import Hub
from tablecast.server.rate import Budget
from tablecast.server.session import Session, State
from tablecast.server.strangers import Strangers, together
from tablecast.server.turnstile import Turnstile
from tablecast.server.viewer_socket import ViewerSocket
from tablecast.settings import ServerSettings

log = logging.getLogger(__name__)

SHARE = 0.05
"""Of the loop's time, for one viewer, where there is not enough for all: one who asks for fifty windows that nobody else has gets each less often."""
PLENTY = 0.25
"""Of the loop's time: as long as all viewers together take less, there is enough, and nobody has to rest."""
BURST_SECONDS = 0.05
NEW_SECONDS = 1.0
"""So long what a viewer takes counts as what newcomers take."""
A_LITTLE = 0.01
"""So that a login is really over when it is looked at."""
REVIEW_SECONDS = 3600.0
"""A login that ends later is looked at again by then: clocks may be set meanwhile."""


class Reception:
    """Takes in viewers, up to the limit. Who has not logged in counts as a stranger and not as a viewer."""

    def __init__(self, hub: Hub, gate: Gate, settings: ServerSettings) -> None:
        self.turnstile = Turnstile()
        self.login_seconds = settings.login_seconds
        self.strangers = Strangers(Addresses(settings.trusted_proxies), settings.strangers, together(settings))
        self._hub = hub
        self._gate = gate
        self._settings = settings
        self._rounds = Rounds(hub.carried)
        self._together = Budget(PLENTY, BURST_SECONDS)
        """What all viewers take."""
        self._inside: set[Session] = set()

    def objection(self, line: ViewerSocket) -> ViewerError | None:
        """Why this socket is not opened at all."""
        origin = _header(line, "origin")
        return None if is_allowed(origin, _header(line, "host"), self._settings.origins) else OriginRefused(origin or "")

    def attend(self, line: ViewerSocket) -> "Conversation":
        """Begins to talk with a viewer."""
        peer = line.client[0] if line.client else ""
        session = Session(self._hub, self._gate, self._settings, self.strangers.addresses.of(peer, _header(line, "x-forwarded-for")))
        session.admit = self._admit
        conversation = Conversation(session, line, self._hub, self._rounds, Expenses(self.turnstile, self._together), self._settings)
        session.on_entry = lambda: self._entered(session, conversation, line)
        conversation.on_end = lambda: self._inside.discard(session)
        try:
            self._admit()
        except SessionsTooMany as error:
            session.refuse(error)
        else:
            self._hub.audience.add(session)
            self._hub.counters.sessions += 1
        return conversation

    def review(self) -> None:
        """Keys are others: who came in with one that is gone goes too."""
        for session in list(self._inside):
            session.review()

    def _admit(self) -> None:
        if len(self._inside) >= self._settings.sessions:
            raise SessionsTooMany(self._settings.sessions)

    def _entered(self, session: Session, conversation: "Conversation", line: ViewerSocket) -> None:
        self._inside.add(session)
        self.strangers.go(line.client)
        conversation.entered()


class Expenses:
    """What a viewer takes of the loop's time. Who has taken more than its share rests, unless there is enough for all."""

    def __init__(self, turnstile: Turnstile, together: Budget) -> None:
        self._turnstile = turnstile
        self._together = together
        self._budget = Budget(SHARE, BURST_SECONDS)
        self._new_until = time.perf_counter() + NEW_SECONDS

    def wait(self, now: float) -> float:
        """After how many seconds it may take more."""
        wait = self._budget.wait(now)
        return min(wait, self._together.wait(now)) if wait > 0 else 0.0

    def spend(self, seconds: float, now: float) -> None:
        self._budget.spend(seconds, now)
        self._together.spend(seconds, now)
        if now < self._new_until:
            self._turnstile.spend(seconds)


class Conversation:
    """One viewer, from the first message to the last. The socket calls it, and is told by it when to end."""

    def __init__(self, session: Session, line: ViewerSocket, hub: Hub, rounds: Rounds, expenses: Expenses, settings: ServerSettings) -> None:
        self._session = session
        self._line = line
        self._hub = hub
        self._expenses = expenses
        self._over = False
        self._courier = Courier(session.outbox, line, rounds, hub.counters, settings.stalled_seconds, self._expenses)
        self._courier.done.add_done_callback(self._carried)
        self._deadline = asyncio.get_running_loop().call_later(settings.login_seconds, session.expire)
        session.on_close = self._courier.finish
        session.outbox.on_room = line.read_on
        self.on_end: Callable[[], None] = _nobody

    def hear(self, message: str | None) -> None:
        """One message; None if it was no text."""
        try:
            if message is None:
                self._session.refuse(MessageUnreadable("it is binary, and every message is text"))
            else:
                self._session.receive(message)
        except Exception:
            # Only this viewer is lost: it comes back by itself.
            log.exception("[server] a message of a viewer cannot be taken, and it is cut off", extra={"event": "crash"})
            self._line.cut_off()

    def entered(self) -> None:
        """It has logged in. A login that ends is looked at when it does."""
        self._deadline.cancel()
        entry = self._session.entry
        if entry is not None and entry.expires is not None:
            seconds = min(max(entry.expires - time.time(), 0.0) + A_LITTLE, REVIEW_SECONDS)
            self._deadline = asyncio.get_running_loop().call_later(seconds, self._review)
        asyncio.get_running_loop().call_soon(self._line.read_on)

    def _review(self) -> None:
        self._session.review()
        if self._session.state is State.OPEN:
            self.entered()

    def wait(self) -> float:
        """After how many seconds it may be asked for more; infinite until `read_on` is called."""
        waits = self._session.outbox.full or self._session.state is State.DECIDING
        return float("inf") if waits else self._expenses.wait(time.perf_counter())

    def spend(self, seconds: float) -> None:
        self._expenses.spend(seconds, time.perf_counter())

    def lost(self) -> None:
        """The socket is no more."""
        self._over = True
        self.on_end()
        self._deadline.cancel()
        self._hub.audience.discard(self._session)
        self._session.close(1000)
        self._courier.leave()

    def _carried(self, _: "asyncio.Future[None]") -> None:
        """The viewer was told the last, or is given up."""
        if self._over:
            return
        if self._courier.stalled:
            place = self._line.client[0] if self._line.client else "?"
            log.info(
                "[server] a viewer at %s took nothing of what was sent to it, and is cut off", place, extra={"event": "stalled", "viewer": place}
            )
        if self._session.state is State.CLOSED and not self._courier.stalled:
            self._line.end(self._session.close_code)
        else:
            self._line.cut_off()


def _header(line: ViewerSocket, name: str) -> str | None:
    """What the handshake said; several of that name as one list."""
    found = [value.decode("latin-1") for each, value in line.scope["headers"] if each.lower() == name.encode()]
    return ",".join(found) if found else None


def _nobody() -> None:
    """Nobody has to hear of the end."""
