"""Deletes from the changelogs of bounded tables what has fallen out of the tables: neither the broker nor a server that starts has to carry it."""

import contextlib
import logging
import threading
import time
from collections.abc import Mapping

from confluent_kafka import KafkaException, Message, TopicPartition

from tablecast.catalog import Bound
from tablecast.errors import TablecastError
from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.clients import make_consumer
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.reasons import reason_of
from tablecast.settings import KafkaSettings
from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Row

log = logging.getLogger(__name__)

TRIM_SECONDS = 5.0
BATCH = 5_000
_NO_DATA = b"{}"


class BoundedChangelog:
    """Which records of a changelog still have a row in the table. The table itself decides; only ids and orders are kept."""

    def __init__(self, name: str, bound: Bound) -> None:
        self._table = LiveTable(name, (), bound)
        self._table.follow(self)
        self._offsets: dict[str, int] = {}
        self.next = 0
        """The offset behind the last record that was taken."""

    def take(self, row_id: bytes, version: bytes, offset: int) -> None:
        self.next = offset + 1
        with contextlib.suppress(ValueError):
            self._table.upsert(row_id, _NO_DATA, version)

    def needed_from(self, now_ms: int) -> int:
        """The first offset that a reader needs."""
        self._table.trim(now_ms)
        return next(iter(self._offsets.values()), self.next)

    def changed(self, row: Row, before: bytes) -> None:
        # Taken out and, unless it has left, put in again: the offsets stay in their order.
        self._offsets.pop(row.id, None)
        if row.data:
            self._offsets[row.id] = self.next - 1


class Trimmer:
    """Follows the changelogs of a generation's bounded tables in a thread of its own."""

    def __init__(self, kafka: KafkaSettings, bounded: Mapping[str, Bound]) -> None:
        """`bounded` is changelog topic to bound."""
        self._kafka = kafka
        self._changelogs = {topic: BoundedChangelog(topic, bound) for topic, bound in bounded.items()}
        self._trimmed = dict.fromkeys(bounded, 0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trimmer", daemon=True)

    def start(self) -> None:
        if self._changelogs:
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        backoff = Backoff()
        while not self._stopped.is_set():
            # Whatever it is: a changelog that nobody trims grows, and a thread that ended without a word would let it grow for ever.
            try:
                self._follow()
            except Exception as error:
                log.warning("[orchestrator] changelogs are not trimmed now, and grow until they are: %s", reason_of(error))
                self._stopped.wait(backoff.next(time.monotonic()))

    def _follow(self) -> None:
        """Until it is stopped; from behind what was taken before."""
        topics = Topics(self._kafka)
        consumer = make_consumer(self._kafka, {"group.id": "tablecast-trimmer", "enable.auto.commit": False, "auto.offset.reset": "earliest"})
        due = time.monotonic() + TRIM_SECONDS
        try:
            consumer.assign([TopicPartition(topic, 0, changelog.next) for topic, changelog in self._changelogs.items()])
            while not self._stopped.is_set():
                for message in consumer.consume(BATCH, 0.5):
                    self._take(message)
                if time.monotonic() >= due:
                    self._trim(topics)
                    due = time.monotonic() + TRIM_SECONDS
        finally:
            consumer.close()

    def _take(self, message: Message) -> None:
        headers: dict[str, bytes] = dict(message.headers() or ())  # type: ignore[arg-type]
        if message.error() is None and VERSION_HEADER in headers:
            self._changelogs[str(message.topic())].take(message.key() or b"", headers[VERSION_HEADER], message.offset() or 0)

    def _trim(self, topics: Topics) -> None:
        for topic, changelog in self._changelogs.items():
            start = changelog.needed_from(time.time_ns() // 1_000_000)
            if start > self._trimmed[topic]:
                try:
                    topics.delete_records(topic, {0: start})
                    self._trimmed[topic] = start
                except (TablecastError, KafkaException) as error:
                    log.warning("[orchestrator] %s could not be trimmed and grows until it can: %s", topic, error)
