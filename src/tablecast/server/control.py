"""The desk where an operator hands in a control message over HTTP: throttled, and sent only if it asks for a change."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tablecast.errors import ControlsTooMany, ControlUnreadable
from tablecast.kafka.control import CONTROL_ROWS, CONTROL_TABLE, DRY_RUN_FIELD, control_message, is_pending, topic_field
from tablecast.kafka.status import COMING, GenerationStatus, newest_live
from tablecast.server.hub import Hub
from tablecast.server.rate import Allowance

PER_SECOND = 1.0
BURST = 5
UNANSWERED_SECONDS = 10.0
"""How long a message of ours may be on its way to the orchestrator: until then what is live does not say what will be."""

SendControl = Callable[[bytes], str]
"""Puts a message on the control topic and returns its id. Blocks; raises TablecastError."""


class ControlDesk:
    """Belongs to the event loop; messages are sent from a thread, one after another."""

    def __init__(self, hub: Hub, send: SendControl, clock: Callable[[], float] = time.monotonic) -> None:
        self._hub = hub
        self._send = send
        self._clock = clock
        self._allowance = Allowance(PER_SECOND, BURST)
        self._sent = float("-inf")
        self._turn = asyncio.Lock()

    async def take(self, body: bytes) -> str | None:
        """The id under which the table control_raw tells the verdict; None if the message changes nothing.

        Raises ControlUnreadable, ControlsTooMany, or what Kafka says.
        """
        fields = read_control(body)
        message = _encoded(fields)
        wait = self._allowance.wait(self._clock())
        if wait > 0:
            raise ControlsTooMany(math.ceil(wait))
        if changes_nothing(fields, self._hub.statuses) and not self._awaits_verdict():
            return None
        async with self._turn:
            # A dry run changes nothing, so after it what is live still says what will be.
            if fields.get(DRY_RUN_FIELD) is not True:
                self._sent = self._clock()
            return await asyncio.to_thread(self._send, message)

    def _awaits_verdict(self) -> bool:
        """Whether a message, whoever sent it, may still change what is live."""
        if self._clock() - self._sent <= UNANSWERED_SECONDS:
            return True
        generation = self._hub.generation
        if generation is None or CONTROL_TABLE not in generation.views:
            return False
        return any(is_pending(row.data) for row in generation.find(CONTROL_TABLE).table.rows(0, CONTROL_ROWS))


def read_control(body: bytes) -> dict[str, Any]:
    """The fields as the control topic has them. What they say is judged by the orchestrator; here they only have to be fields."""
    try:
        given = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ControlUnreadable(f"the body is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise ControlUnreadable(f"the body is {type(given).__name__}, expected an object")
    topics = given.pop("topics", None)
    if topics is None:
        return given
    if not isinstance(topics, dict) or not all(isinstance(topic, str) for topic in topics.values()):
        raise ControlUnreadable("topics is not an object of source to topic")
    named: dict[str, Any] = msgspec.json.decode(control_message(topics, None))
    return named | given


def _encoded(fields: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except RecursionError as error:
        raise ControlUnreadable(f"the body is not JSON: {error}") from None


def changes_nothing(fields: Mapping[str, Any], statuses: tuple[GenerationStatus, ...]) -> bool:
    """Whether it asks for exactly what is live while nothing else is on its way. In doubt it does not: the orchestrator knows better."""
    live = newest_live(statuses)
    if live is None or live.error is not None or any(status.state in COMING for status in statuses):
        return False
    asked = {name.strip().lower(): value.strip() if isinstance(value, str) else value for name, value in fields.items()}
    join = asked.pop("jointype", None) or "left"
    asked.pop(DRY_RUN_FIELD.lower(), None)
    topics = {topic_field(source).lower(): topic for source, topic in live.topics.items()}
    joins = set(live.join.values())
    return asked == topics and isinstance(join, str) and joins <= {join.lower()}
