"""Brings the changelogs of the live generation into the hub, and says honestly how that goes.

status topic ──> which generation is live ──> a reader fills its tables apart ──> the hub flips to them ──> later changes go to the hub's tables
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from tablecast.kafka.names import status_topic
from tablecast.kafka.status import PULSE_SECONDS, GenerationStatus
from tablecast.server.follower import GenerationFollower, StatusFollower
from tablecast.server.hub import Hub
from tablecast.server.reader import TopicReader
from tablecast.server.topics import Topic, TopicFinder
from tablecast.server.watch import BrokerWatch
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.5
STOP_SECONDS = 1.0
SILENT_SECONDS = 5 * PULSE_SECONDS


@dataclass(frozen=True)
class Filling:
    """A generation that is being read, and then followed."""

    reader: TopicReader
    follower: GenerationFollower

    def stop(self) -> None:
        self.follower.abandon()
        self.reader.stop()


class Feed:
    """Lives while `running`. Everything but `_post` and `_topics` is called on the event loop."""

    def __init__(self, kafka: KafkaSettings, prefix: str, hub: Hub) -> None:
        """Raises ConfigurationError for a Kafka setting that cannot be."""
        self.shown: Filling | None = None
        self._kafka = kafka
        self._hub = hub
        self._finder = TopicFinder(kafka)
        self._status_topic = status_topic(prefix)
        self._statuses = StatusFollower(self._post, self._decide, self._status_lost)
        self._status_reader = TopicReader(kafka, self._finder, [self._status_topic], self._statuses)
        self._next: Filling | None = None
        self._down_since: datetime | None = None
        self._lost: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watch = BrokerWatch(self._finder, self._topics, lambda found: self._post(lambda: self._observed(found)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Reads while the context lasts; its threads end with it."""
        self._loop = asyncio.get_running_loop()
        self._status_reader.start()
        self._watch.start()
        try:
            yield
        finally:
            self._stop()
            await asyncio.to_thread(self._join)

    def filled(self, follower: GenerationFollower) -> None:
        """All tables change over at this instant."""
        if self._next is None or self._next.follower is not follower:
            return
        before, self.shown, self._next = self.shown, self._next, None
        self._lost = None
        self._hub.flip(follower.generation)
        if before is not None:
            before.stop()
        tables = follower.generation.tables()
        log.info("[server] shows generation %d: %d tables, %d rows", follower.generation.number, len(tables), sum(map(len, tables)))
        self._report()

    def waits(self, follower: GenerationFollower) -> None:
        self._report()

    def lost(self, follower: GenerationFollower, reason: str) -> None:
        """What is shown stays, and is called stale, until all has been read again."""
        follower.abandon()
        if self._next is not None and self._next.follower is follower:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._refill, follower)
        elif self.shown is not None and self.shown.follower is follower:
            if self._lost is None:
                log.warning("[server] generation %d is read again: %s", follower.status.generation, reason)
            self._lost = reason
            if self._next is None:
                self._fill(follower.status)
            self._report()

    def applied(self, records: int) -> None:
        self._hub.counters.records += records
        self._hub.touch()

    def _decide(self, statuses: StatusFollower) -> None:
        """Follows the newest generation that is called live."""
        if statuses is not self._statuses:
            return
        known = sorted(statuses.generations.values(), key=lambda status: status.generation)
        self._hub.statuses = tuple(known)
        live = [status for status in known if status.state == "live"]
        followed = self._next or self.shown
        if live and (followed is None or not _same(followed.follower.status, live[-1])):
            self._fill(live[-1])
        self._report()

    def _fill(self, status: GenerationStatus) -> None:
        if self._next is not None:
            self._next.stop()
        follower = GenerationFollower(status, self._post, self._hub.wanted, self)
        changelogs = [table.changelog for table in status.tables.values()]
        self._next = Filling(TopicReader(self._kafka, self._finder, changelogs, follower), follower)
        self._next.reader.start()

    def _refill(self, follower: GenerationFollower) -> None:
        if self._next is not None and self._next.follower is follower:
            self._fill(follower.status)

    def _status_lost(self, follower: StatusFollower, reason: str) -> None:
        if follower is not self._statuses:
            return
        log.warning("[server] the status topic is read again: %s", reason)
        self._status_reader.stop()
        self._statuses = StatusFollower(self._post, self._decide, self._status_lost)
        self._status_reader = TopicReader(self._kafka, self._finder, [self._status_topic], self._statuses)
        self._status_reader.start()

    def _report(self) -> None:
        if self._down_since is not None:
            self._hub.say("stale", f"The changelog broker {self._finder.servers} does not answer since {self._down_since:%H:%M:%SZ}.")
        elif self.shown is None:
            self._hub.say("filling", self._what_is_awaited())
        elif self._lost is not None:
            self._hub.say("stale", f"Generation {self.shown.follower.status.generation} is being read again: {self._lost}.")
        elif (silence := self._silence()) is not None:
            self._hub.say("stale", silence)
        else:
            self._hub.say("live")

    def _silence(self) -> str | None:
        """Why the rows may be old although the broker answers."""
        statuses = self._statuses
        if statuses.pulse is None:
            return "The pipeline has not been heard of yet: these are the last rows that it wrote."
        if statuses.pulse.failing is not None:
            return f"A query of the pipeline does not run: {statuses.pulse.failing}"
        quiet = time.monotonic() - statuses.heard
        return f"The pipeline has not been heard of for {quiet:.0f} s." if quiet > SILENT_SECONDS else None

    def _what_is_awaited(self) -> str:
        missing = self._statuses.missing if self._next is None else self._next.follower.missing
        if missing:
            return f"The topic {missing[0]} does not exist yet."
        return "No generation is live yet." if self._next is None else f"Generation {self._next.follower.status.generation} is being read."

    def _topics(self) -> list[str]:
        fillings = [filling for filling in (self.shown, self._next) if filling is not None]
        return [self._status_topic, *(name for filling in fillings for name in filling.reader.names)]

    def _observed(self, found: dict[str, Topic] | None) -> None:
        self._down(found is None)
        if found is not None:
            self._compare(found)
        self._report()

    def _down(self, down: bool) -> None:
        if down and self._down_since is None:
            self._down_since = datetime.now(UTC)
            log.warning("[server] the changelog broker %s does not answer", self._finder.servers)
        elif not down and self._down_since is not None:
            self._down_since = None
            log.info("[server] the changelog broker %s answers again", self._finder.servers)

    def _compare(self, found: dict[str, Topic]) -> None:
        if replaced := _replaced(self._status_reader, found):
            self._status_lost(self._statuses, replaced)
        for filling in (self.shown, self._next):
            if filling is not None and (replaced := _replaced(filling.reader, found)):
                self.lost(filling.follower, replaced)

    def _post(self, step: Callable[[], None]) -> None:
        loop = self._loop
        if loop is not None:
            loop.call_soon_threadsafe(step)

    def _stop(self) -> None:
        self._loop = None
        self._watch.stop()
        self._status_reader.stop()
        for filling in (self.shown, self._next):
            if filling is not None:
                filling.stop()

    def _join(self) -> None:
        for filling in (self.shown, self._next):
            if filling is not None:
                filling.reader.join(STOP_SECONDS)
        self._status_reader.join(STOP_SECONDS)


def _same(one: GenerationStatus, other: GenerationStatus) -> bool:
    return (one.generation, one.tables, one.aliases, one.fingerprint) == (other.generation, other.tables, other.aliases, other.fingerprint)


def _replaced(reader: TopicReader, found: dict[str, Topic]) -> str | None:
    """Which of the reader's topics is not the one that it reads, if any."""
    for name, topic in reader.topics.items():
        if found.get(name) != topic:
            return f"the topic {name} was {'changed or created again' if name in found else 'deleted'}"
    return None
