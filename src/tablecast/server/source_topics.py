"""The topics that an operator can choose from: those of the source Kafka."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tablecast.kafka.admin import Topics
from tablecast.kafka.names import is_ours
from tablecast.settings import Settings

ANSWER_SECONDS = 5.0
KEPT_SECONDS = 2.0

ListTopics = Callable[[], Mapping[str, int]]
"""Topic to how many partitions it has. Blocks; raises TablecastError."""


@dataclass(frozen=True)
class SourceTopic:
    name: str
    partitions: int


class SourceTopics:
    """Belongs to the event loop; Kafka is asked from a thread, once for all who ask within KEPT_SECONDS."""

    def __init__(self, ask: ListTopics, clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._known: list[SourceTopic] = []
        self._until = float("-inf")
        self._turn = asyncio.Lock()

    async def listed(self) -> list[SourceTopic]:
        """By name. Raises what Kafka says."""
        async with self._turn:
            if self._clock() >= self._until:
                found = await asyncio.to_thread(self._ask)
                self._known = [SourceTopic(name, partitions) for name, partitions in sorted(found.items())]
                self._until = self._clock() + KEPT_SECONDS
            return self._known


def source_topics(settings: Settings) -> SourceTopics:
    """Those of `[kafka]` without our own: neither what Tablecast writes nor the topic that control messages come on."""
    kafka, prefix, control = settings.kafka, settings.changelog.prefix, settings.control.topic
    made: list[Topics] = []

    def ask() -> dict[str, int]:
        # Not before somebody asks: a server needs no source Kafka for anything else.
        made[:] = made or [Topics(kafka, "source", ANSWER_SECONDS)]
        return {name: partitions for name, partitions in made[0].listed().items() if name != control and not is_ours(prefix, name)}

    return SourceTopics(ask)
