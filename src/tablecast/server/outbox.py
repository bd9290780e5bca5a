"""What waits to be sent to one viewer. Bounded by design: answers are few, and frames are not queued at all."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

ANSWERS = 64
FEED = 0
"""The dirty mark of the feed's state; subscriptions are numbered from 1."""


class Outbox:
    """A short queue of answers, and one dirty mark a subscription.

    A frame is cut only when it can be sent, so a slow viewer gets the newest state and never a queue of old ones. While the queue of answers is
    full, `room` holds back the reading of further messages.
    """

    def __init__(self, cut: Callable[[int], list[bytes]], capacity: int = ANSWERS) -> None:
        self._cut = cut
        self._capacity = capacity
        self._answers: deque[bytes] = deque()
        self._dirty: dict[int, None] = {}
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._busy_since: float | None = None

    def put(self, answer: bytes) -> None:
        self._answers.append(answer)
        self._filled.set()
        if len(self._answers) >= self._capacity:
            self._drained.clear()

    def mark(self, sub: int) -> None:
        """What the viewer knows of this subscription is not the newest state any more."""
        self._dirty[sub] = None
        self._filled.set()

    def forget(self, sub: int) -> None:
        self._dirty.pop(sub, None)

    def wake(self) -> None:
        """Makes `wait` return even though there may be nothing to take."""
        self._filled.set()

    def take(self) -> list[bytes]:
        """What is to be sent next: all answers, or the messages of one dirty subscription. Empty when there is nothing."""
        while not self._answers and self._dirty:
            sub = next(iter(self._dirty))
            del self._dirty[sub]
            if messages := self._cut(sub):
                return messages
        answers = list(self._answers)
        self._answers.clear()
        self._drained.set()
        if not answers:
            self._filled.clear()
        return answers

    async def wait(self) -> None:
        """Until there may be something to take."""
        await self._filled.wait()

    async def room(self) -> None:
        """Until the queue of answers has room."""
        await self._drained.wait()

    def sending(self) -> None:
        self._busy_since = time.monotonic()

    def sent(self) -> None:
        self._busy_since = None

    def stalled_for(self) -> float:
        """For how many seconds the viewer has not taken what is being sent."""
        return 0.0 if self._busy_since is None else time.monotonic() - self._busy_since
