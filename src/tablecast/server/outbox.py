"""What waits to be sent to one viewer. Bounded by design: answers are few, and frames are not queued at all."""

import time
from collections import deque
from collections.abc import Callable

from tablecast.server.counters import Counters

ANSWERS = 64
FEED = 0
"""The dirty mark of the feed's state; subscriptions are numbered from 1."""

Cut = Callable[[int, float], list[bytes]]
"""The messages that bring the viewer's knowledge of a subscription to the newest state, which has waited so many seconds for the viewer."""


class Outbox:
    """A short queue of answers, and one dirty mark a subscription.

    A frame is cut only when it can be sent, so a slow viewer gets the newest state and never a queue of old ones. While the queue of answers is
    `full`, no further messages shall be read; `on_room` is called when it is not any more. `news` is called whenever there may be something to take.
    """

    def __init__(self, cut: Cut, counters: Counters, capacity: int = ANSWERS, clock: Callable[[], float] = time.monotonic) -> None:
        self.news: Callable[[], None] = _nobody
        self.on_room: Callable[[], None] = _nobody
        self._cut = cut
        self._counters = counters
        self._capacity = capacity
        self._clock = clock
        self._answers: deque[bytes] = deque()
        self._dirty: dict[int, float] = {}
        self._held: set[int] = set()

    def put(self, answer: bytes) -> None:
        self._answers.append(answer)
        self.news()

    def mark(self, sub: int) -> None:
        """What the viewer knows of this subscription is not the newest state any more."""
        if sub in self._dirty:
            self._counters.skips += 1
        else:
            self._dirty[sub] = self._clock()
            self.news()

    def hold(self, sub: int) -> None:
        """Nothing of this subscription is taken until it is let go: the viewer is not done yet with what it has."""
        self._held.add(sub)

    def let_go(self, sub: int) -> None:
        if sub in self._held:
            self._held.discard(sub)
            if sub in self._dirty:
                self.news()

    def forget(self, sub: int) -> None:
        self._dirty.pop(sub, None)
        self._held.discard(sub)

    def take(self) -> list[bytes]:
        """What is to be sent next: all answers, or the messages of one dirty subscription. Empty when there is nothing."""
        while not self._answers and (sub := self._next()) is not None:
            waited = self._clock() - self._dirty.pop(sub)
            if messages := self._cut(sub, waited):
                return messages
        was_full, answers = self.full, list(self._answers)
        self._answers.clear()
        if was_full:
            self.on_room()
        return answers

    @property
    def waits(self) -> bool:
        """Whether there may be something to take."""
        return bool(self._answers) or self._next() is not None

    @property
    def full(self) -> bool:
        return len(self._answers) >= self._capacity

    def _next(self) -> int | None:
        return next((sub for sub in self._dirty if sub not in self._held), None)


def _nobody() -> None:
    """Nobody has to hear of it yet."""
