"""The topics that outlive generations, watched while an orchestrator leads."""

import time

from tablecast.errors import TopicMissing
from tablecast.kafka.admin import Topic, Topics
from tablecast.kafka.names import lasting_topics
from tablecast.orchestrator.task import Task
from tablecast.settings import KafkaSettings

WATCH_SECONDS = 5.0


class LastingTopics:
    """What is written to a topic that somebody deleted reaches nobody, and a consumer of it waits for ever: who leads must begin anew."""

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        self._topics = Topics(kafka)
        self._names = lasting_topics(prefix)
        self._known: dict[str, Topic | None] = {}
        """As they were at the first look."""
        self._look: Task[list[str]] | None = None
        self._due = 0.0

    def lost(self) -> list[str]:
        """Those that were found gone, or others. To be called often; does not wait. A broker that is away says nothing of them."""
        found: list[str] = []
        if self._look is None:
            if time.monotonic() >= self._due:
                self._look = Task("look at the lasting topics", self._compared)
        elif self._look.done:
            found, self._look, self._due = self._look.result or [], None, time.monotonic() + WATCH_SECONDS
        return found

    def _compared(self) -> list[str]:
        found = {name: self._found(name) for name in self._names}
        self._known = self._known or found
        return [name for name, topic in found.items() if topic is None or topic != self._known[name]]

    def _found(self, name: str) -> Topic | None:
        try:
            return self._topics.find(name)
        except TopicMissing:
            return None
