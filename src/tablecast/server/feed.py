"""Brings the changelogs of generations into the hub.

status topic ──> which generation comes ──> a reader fills its tables apart ──> live and read to its ends: the hub flips ──> later changes
                                            while the one before is shown        to all its tables at one instant            go to the hub's tables
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tablecast.errors import TablecastError
from tablecast.kafka.admin import Topic
from tablecast.kafka.names import status_topic
from tablecast.kafka.status import GenerationStatus, ServerStatus
from tablecast.server.aim import aim, same
from tablecast.server.filling import Filling
from tablecast.server.follower import GenerationFollower, ServersFollower, StatusFollower
from tablecast.server.herald import Herald
from tablecast.server.hub import Hub
from tablecast.server.presence import Presence
from tablecast.server.reader import TopicReader
from tablecast.server.topics import TopicFinder
from tablecast.server.watch import BrokerWatch
from tablecast.settings import KafkaSettings
from tablecast.tables.group_view import MOST_GROUPS

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
STOP_SECONDS = 1.0


class Feed:
    """Lives while `running`. Everything but `_post` and `_topics` is called on the event loop."""

    def __init__(self, kafka: KafkaSettings, prefix: str, hub: Hub, most_groups: int = MOST_GROUPS) -> None:
        """Raises ConfigurationError for a Kafka setting that cannot be."""
        self.shown: Filling | None = None
        self.coming: Filling | None = None
        """The generation that is read beside the one that is shown."""
        self._kafka = kafka
        self._hub = hub
        self._most_groups = most_groups
        self._finder = TopicFinder(kafka)
        self._status_topic = status_topic(prefix)
        self._statuses, self._status_reader = self._status_reading()
        self._presence = Presence(kafka, prefix)
        self._servers, self._servers_reader = self._servers_reading()
        self._herald = Herald(hub)
        self._lost: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch = BrokerWatch(self._finder, self._topics, lambda found: self._post(lambda: self._observed(found)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Reads while the context lasts; its threads end with it."""
        self._loop = asyncio.get_running_loop()
        for part in (self._status_reader, self._servers_reader, self._presence, self._watch):
            part.start()
        try:
            yield
        finally:
            self._stop()
            await asyncio.to_thread(self._join)

    def servers(self) -> list[ServerStatus]:
        """What the servers of this pipeline last said of themselves."""
        return sorted(self._servers.servers.values(), key=lambda status: status.server)

    def filled(self, follower: GenerationFollower) -> None:
        """All tables change over at this instant."""
        if self.coming is None or self.coming.follower is not follower:
            return
        before, self.shown, self.coming = self.shown, self.coming, None
        self._lost = None
        self._hub.counters.records += follower.read
        self._hub.flip(follower.generation)
        if before is not None:
            before.drop()
        tables, number = follower.generation.tables(), follower.generation.number
        told = {"event": "flip", "generation": number, "rows": {table.name: len(table) for table in tables}}
        log.info("[server] shows generation %d: %d tables, %d rows", number, len(tables), sum(map(len, tables)), extra=told)
        self._decide(self._statuses)

    def waits(self, follower: GenerationFollower) -> None:
        self._report()

    def lost(self, follower: GenerationFollower, reason: str) -> None:
        """What is shown stays, and is called stale, until all has been read again."""
        follower.abandon()
        if self.coming is not None and self.coming.follower is follower:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._refill, follower)
        elif self.shown is not None and self.shown.follower is follower:
            if self._lost is None:
                told = {"event": "lost", "generation": follower.status.generation, "reason": reason}
                log.warning("[server] generation %d is read again: %s", follower.status.generation, reason, extra=told)
            self._lost = reason
            self._decide(self._statuses)

    def applied(self, records: int) -> None:
        self._hub.counters.records += records
        self._hub.touch()

    def _decide(self, statuses: StatusFollower) -> None:
        """Reads what is to be shown next; drops what was to be, and will not be."""
        if statuses is not self._statuses:
            return
        self._hub.statuses = tuple(sorted(statuses.generations.values(), key=lambda status: status.generation))
        target = aim(self._hub.statuses, self.shown.follower.status if self.shown is not None else None, self._lost is not None)
        if target is not None and self.coming is not None and same(self.coming.follower.status, target):
            self.coming.follower.status = target
        else:
            self._read(target)
        self._report()

    def _read(self, status: GenerationStatus | None) -> None:
        if self.coming is not None:
            self.coming.drop()
        self.coming = None
        if status is not None:
            follower = GenerationFollower(status, self._post, self._hub.wanted, self, self.shown is not None, self._most_groups)
            changelogs = [table.changelog for table in status.tables.values()]
            self.coming = Filling(TopicReader(self._kafka, self._finder, changelogs, follower), follower)
            self.coming.reader.start()

    def _refill(self, follower: GenerationFollower) -> None:
        if self.coming is not None and self.coming.follower is follower:
            self._read(follower.status)

    def _status_lost(self, follower: StatusFollower, reason: str) -> None:
        if follower is not self._statuses:
            return
        log.warning("[server] the status topic is read again: %s", reason, extra={"event": "lost", "topic": self._status_topic, "reason": reason})
        self._status_reader.stop()
        self._statuses, self._status_reader = self._status_reading()
        self._status_reader.start()

    def _status_reading(self) -> tuple[StatusFollower, TopicReader]:
        follower = StatusFollower(self._post, self._decide, self._status_lost, self._hub.counters.transitions)
        return follower, TopicReader(self._kafka, self._finder, [self._status_topic], follower)

    def _servers_reading(self) -> tuple[ServersFollower, TopicReader]:
        follower = ServersFollower()
        return follower, TopicReader(self._kafka, self._finder, [self._presence.topic], follower)

    def _report(self) -> None:
        self._presence.tell(_number(self.shown), _number(self.coming))
        self._herald.report(self.shown, self.coming, self._statuses, self._lost)

    def _topics(self) -> list[str]:
        fillings = [filling for filling in (self.shown, self.coming) if filling is not None]
        return [self._status_topic, self._presence.topic, *(name for filling in fillings for name in filling.reader.names)]

    def _observed(self, found: dict[str, Topic] | TablecastError) -> None:
        self._herald.observed(found if isinstance(found, TablecastError) else None)
        if not isinstance(found, TablecastError):
            self._presence.observed(self._presence.topic in found)
            self._compare(found)
        self._report()

    def _compare(self, found: dict[str, Topic]) -> None:
        if replaced := _replaced(self._status_reader, found):
            self._status_lost(self._statuses, replaced)
        if _replaced(self._servers_reader, found) or self._servers_reader.ended:
            self._servers_reader.stop()
            self._servers, self._servers_reader = self._servers_reading()
            self._servers_reader.start()
        for filling in (self.shown, self.coming):
            if filling is not None and (replaced := _replaced(filling.reader, found)):
                self.lost(filling.follower, replaced)

    def _post(self, step: Callable[[], None]) -> None:
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(step)

    def _stop(self) -> None:
        self._loop = None
        for part in (self._presence, self._watch, self._status_reader, self._servers_reader, self.shown, self.coming):
            if part is not None:
                part.stop()

    def _join(self) -> None:
        readers = [filling.reader for filling in (self.shown, self.coming) if filling is not None]
        for reader in (*readers, self._status_reader, self._servers_reader):
            reader.join(STOP_SECONDS)
        self._presence.join(STOP_SECONDS)


def _number(filling: Filling | None) -> int | None:
    return None if filling is None else filling.number


def _replaced(reader: TopicReader, found: dict[str, Topic]) -> str | None:
    """Which of the reader's topics is not the one that it reads, if any."""
    for name, topic in reader.topics.items():
        if found.get(name) != topic:
            return f"the topic {name} was {'changed or created again' if name in found else 'deleted'}"
    return None
