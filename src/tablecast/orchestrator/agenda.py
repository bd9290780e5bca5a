"""Which control message is acted upon next. Pure: newest first, one at a time, and none without a verdict in the end."""

from collections.abc import Callable
from dataclasses import dataclass

from tablecast.orchestrator.control import Rejection, Request
from tablecast.orchestrator.verdicts import Answer, Letter

MOST_WAITING = 1000
"""Messages that may wait for their turn. The newest wins anyway."""


@dataclass(frozen=True)
class Asked:
    """A message that is well formed. `fingerprint` is that of the generation that it asks for."""

    letter: Letter
    request: Request
    fingerprint: str


class Agenda:
    """Messages that wait, oldest first. The newest one that Kafka bears out wins; those before it are superseded once it is live, so that
    if it fails the one before it still has its turn."""

    def __init__(self) -> None:
        self.waiting: list[Asked] = []
        self.chosen: Asked | None = None
        """The one that is being built; it waits too, for its verdict."""

    def take(self, asked: Asked) -> Answer:
        self.waiting.append(asked)
        return Answer(asked.letter, "pending")

    def overtaken(self) -> list[Answer]:
        """The verdict of the oldest, where more wait than may: nobody's flood fills the memory."""
        excess = [asked for asked in self.waiting[: max(0, len(self.waiting) - MOST_WAITING)] if asked is not self.chosen]
        told = f"superseded by newer messages: more than {MOST_WAITING} waited"
        return [self._answered(asked, Answer(asked.letter, "superseded", told)) for asked in excess]

    def candidate(self) -> Asked | None:
        """The newest that waits, unless it is the one that is being built: nothing older than that one is looked at."""
        newest = self.waiting[-1] if self.waiting else None
        return None if newest is self.chosen else newest

    def overtaken_by_build(self, asked: Asked) -> bool:
        """Whether what is being built is wanted by a message that came after this one."""
        return self.chosen is not None and self.waiting.index(self.chosen) > self.waiting.index(asked)

    def choose(self, asked: Asked | None) -> None:
        self.chosen = asked

    def rejected(self, asked: Asked, rejection: Rejection) -> list[Answer]:
        """The verdict of it and of all that ask for the same: they would fare the same."""
        same = [other for other in self.waiting if other.request == asked.request]
        return [self._answered(other, Answer(other.letter, "rejected", rejection.reason)) for other in same]

    def unchanged(self, asked: Asked, live: int) -> list[Answer]:
        """It asks for what is live already. Whatever came before it is superseded."""
        told = f"generation {live} shows this already"
        return self._settled(asked, lambda other: Answer(other.letter, "no_change", told + ignoring(other), live))

    def applied(self, asked: Asked, generation: int) -> list[Answer]:
        """It is live now. Newer ones still wait."""
        return self._settled(asked, lambda other: Answer(other.letter, "applied", ignoring(other).lstrip(", ") or None, generation))

    def _settled(self, asked: Asked, answer: Callable[[Asked], Answer]) -> list[Answer]:
        until = self.waiting.index(asked) + 1
        told = f"superseded by the message {asked.letter.id}"
        return [
            self._answered(other, answer(other) if other.fingerprint == asked.fingerprint else Answer(other.letter, "superseded", told))
            for other in self.waiting[:until]
        ]

    def _answered(self, asked: Asked, answer: Answer) -> Answer:
        self.waiting.remove(asked)
        if asked is self.chosen:
            self.chosen = None
        return answer


def ignoring(asked: Asked) -> str:
    """The end of a reason: which fields meant nothing."""
    return f", unknown fields ignored: {', '.join(asked.request.ignored)[:200]}" if asked.request.ignored else ""
