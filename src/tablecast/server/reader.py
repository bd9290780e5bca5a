"""Reads topics from their beginning, in a thread of its own, until it is stopped."""

import logging
import threading
import time
from collections.abc import Sequence, Set
from contextlib import suppress
from typing import Protocol, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tablecast.errors import TablecastError
from tablecast.kafka.admin import Topic
from tablecast.kafka.clients import MISSING, assign_from_beginning, code_of, concerns_group, make_consumer
from tablecast.server.topics import TopicFinder
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

Partition = tuple[str, int]

BATCH = 1000
WAIT_MS = 500
"""So long a broker that has nothing new waits for something before it says so: so often it is asked for nothing."""
_POLL_SECONDS = 0.05
_RETRY_SECONDS = 0.5
_LAG_SECONDS = 1.0
_ASK_SECONDS = 1.0
_LOST = MISSING | {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}
_OWN: dict[str, str | int | bool] = {
    "group.id": "tablecast-server",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "fetch.queue.backoff.ms": 10,
    "fetch.error.backoff.ms": 100,
    "queued.max.messages.kbytes": 32768,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
}
"""No group, no commits, quick answers, and an error instead of a silent jump to other offsets."""


class Reading(Protocol):
    """How far a reader is."""

    @property
    def behind(self) -> Set[Partition]:
        """The partitions whose end has not been reached since the reader began."""

    def position(self, topic: str) -> int:
        """The offset up to which the first partition of the topic has been read: all before it has been handed over."""


class Follower(Protocol):
    """Gets what a reader reads, called in the reader's thread."""

    def records(self, messages: list[Message]) -> None: ...

    def turn(self, reading: "Reading") -> bool:
        """Called after the records of each round, and every moment without any. Whether there is more to do at once."""

    def waits(self, missing: Sequence[str]) -> None:
        """The reader cannot begin before these topics exist."""

    def lost(self, reason: str) -> None:
        """Called once, as the last: records are missing, so all is to be read again by another reader."""


class TopicReader:
    """Hands over the records of some topics, in order for each partition. `topics` says what it found there when it began."""

    def __init__(self, kafka: KafkaSettings, finder: TopicFinder, names: Sequence[str], follower: Follower) -> None:
        self.topics: dict[str, Topic] = {}
        self.lags: dict[str, int] = {}
        """Topic to how many records are written but not read yet, as of a second ago at most. Replaced, never changed."""
        self._consumer = make_consumer(kafka, {**_OWN, "fetch.wait.max.ms": WAIT_MS})
        self._finder = finder
        self._names = tuple(names)
        self._follower = follower
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {len(self._names)} topics", daemon=True)
        self._lag_at = 0.0
        self._told: set[int] = set()
        self._behind: set[Partition] = set()
        self._ends: dict[Partition, int] = {}
        """Where the end of a partition was when it was last reached. After the last record there may be more: markers of transactions."""
        self._newest: dict[str | None, Message] = {}
        """The last record of each topic."""

    @property
    def behind(self) -> Set[Partition]:
        return self._behind

    def position(self, topic: str) -> int:
        [part] = self._consumer.position([TopicPartition(topic, 0)])
        return max(part.offset, self._ends.get((topic, 0), 0))

    def written(self) -> dict[str, float]:
        """Topic to when its last record that was read was written, in seconds, as the broker or its producer says. From any thread."""
        return {topic or "": message.timestamp()[1] / 1000 for topic, message in self._newest.copy().items()}

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The thread ends within a moment; nothing is handed over after `join`."""
        self._stopped.set()

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def ended(self) -> bool:
        """Whether its thread has begun and is over."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def _run(self) -> None:
        consumer = self._consumer
        try:
            self.topics = self._found()
            self._behind = {(topic.name, partition) for topic in self.topics.values() for partition in topic.partitions}
            assign_from_beginning(consumer, self._behind)
            self._notice_empty(consumer)
            self._read(consumer)
        except KafkaException as error:
            self._follower.lost(code_of(error).str())
        except Exception:
            # A reader that died unseen would leave old rows that look live.
            log.exception("[server] the reader of %s failed", ", ".join(self._names), extra={"event": "crash", "topics": self._names})
            self._follower.lost("its reader failed")
        finally:
            consumer.close()

    def _found(self) -> dict[str, Topic]:
        """Waits until all topics exist; the broker's absence is seen by others."""
        while self._names and not self.stopped:
            try:
                found = self._finder.find(self._names)
            except TablecastError:
                self._stopped.wait(_RETRY_SECONDS)
                continue
            if len(found) == len(self._names):
                return found
            self._follower.waits([name for name in self._names if name not in found])
            self._stopped.wait(_RETRY_SECONDS)
        return {}

    def _read(self, consumer: Consumer) -> None:
        busy = False
        while not self.stopped:
            # A poll returns at the first record; consume alone would wait for a full batch.
            first = consumer.poll(0 if busy else _POLL_SECONDS)
            messages = [] if first is None else [first, *consumer.consume(BATCH - 1, 0)]
            others = [message for message in messages if message.error() is not None] if any(map(Message.error, messages)) else []
            records = [message for message in messages if message.error() is None] if others else messages
            if records:
                self._follower.records(records)
                self._newest |= zip(map(Message.topic, records), records, strict=True)
                self._notice_ends(consumer)
            for message in others:
                if not self._goes_on(message):
                    return
            busy = self._follower.turn(self)
            self._measure(consumer)

    def _notice_empty(self, consumer: Consumer) -> None:
        """Of a topic without a record the broker tells the end only when it has waited for one; a generation that is filled waits for all ends."""
        # Whoever does not answer now is asked no more here, and tells its ends as it always does.
        with suppress(KafkaException):
            for topic, partition in list(self._behind):
                ends = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=_ASK_SECONDS)
                if ends is None:
                    return
                if ends[0] == ends[1]:
                    self._reach(topic, partition, ends[1])

    def _notice_ends(self, consumer: Consumer) -> None:
        """The broker tells of an end only when it has waited for more; by where the last answer said that it is, it is known at once."""
        parts = [TopicPartition(topic, partition) for topic, partition in self._behind]
        for part in consumer.position(parts) if parts else ():
            _, high = consumer.get_watermark_offsets(part, cached=True)
            if 0 < high <= part.offset:
                self._reach(part.topic, part.partition, part.offset)

    def _reach(self, topic: str, partition: int, end: int) -> None:
        self._behind.discard((topic, partition))
        self._ends[topic, partition] = end

    def _goes_on(self, message: Message) -> bool:
        error = cast(KafkaError, message.error())
        if error.code() == KafkaError._PARTITION_EOF:
            self._reach(message.topic() or "", message.partition() or 0, message.offset() or 0)
        elif error.code() in _LOST:
            self._follower.lost(f"{message.topic()}: {error.str()}")
            return False
        elif error.code() not in self._told and not concerns_group(error):
            self._told.add(error.code())
            told = {"event": "kafka", "topic": message.topic() or self._names[0], "code": error.name(), "reason": error.str()}
            log.warning("[server] reading %s: %s", told["topic"], error.str(), extra=told)
        return True

    def _measure(self, consumer: Consumer) -> None:
        now = time.monotonic()
        if now - self._lag_at < _LAG_SECONDS:
            return
        self._lag_at = now
        lags = dict.fromkeys(self._names, 0)
        for part in consumer.position(consumer.assignment()):
            _, high = consumer.get_watermark_offsets(part, cached=True)
            # Without a record it has no position yet: all that stood there may have been deleted.
            lags[part.topic] += max(0, high - max(part.offset, self._ends.get((part.topic, part.partition), 0)))
        self.lags = lags
