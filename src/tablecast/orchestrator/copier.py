"""Copies the user's control topic, which we may only read, into our own: its order is the order of the verdicts."""

import json
import logging
import queue
import threading
import time
from collections.abc import Iterable

from confluent_kafka import KafkaException, Message, TopicPartition

from tablecast.errors import TablecastError, TopicMissing
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import concerns_group, make_consumer
from tablecast.kafka.control import COPIED_HEADER, ID_HEADER, header
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.ledger import Record
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

ABSENT_SECONDS = 2.0
POLL_SECONDS = 0.2
BATCH = 1000
MOST_BYTES = 65_536
"""Of a message: a longer one is cut, and refused for what is left of it."""
OWN = {"group.id": "tablecast-control", "enable.auto.commit": False, "auto.offset.reset": "earliest"}


def copied_so_far(messages: Iterable[Message]) -> dict[int, int]:
    """Partition of the user's topic to the next offset, from what stands on our own."""
    told = [value for message in messages if (value := header(message, COPIED_HEADER)) is not None]
    return {int(partition): offset for partition, offset in json.loads(told[-1]).items()} if told else {}


class Copier:
    """Reads in a thread of its own; what it read is written by who leads, together with how far it came, so that nothing is copied twice."""

    def __init__(self, kafka: KafkaSettings, topic: str, target: str, begin: dict[int, int]) -> None:
        self._kafka = kafka
        self._topic = topic
        self._target = target
        self._next = dict(begin)
        self._read: queue.Queue[Message] = queue.Queue(10 * BATCH)
        self._copied = dict(begin)
        self._told = ""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control copier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def taken(self) -> list[Record]:
        """What has been read since the last call, ready to be written."""
        records: list[Record] = []
        while len(records) < BATCH and not self._read.empty():
            records.append(self._record(self._read.get()))
        return records

    def _record(self, message: Message) -> Record:
        self._copied[message.partition() or 0] = (message.offset() or 0) + 1
        headers = [(COPIED_HEADER, json.dumps(self._copied).encode())]
        if (given := header(message, ID_HEADER)) is not None:
            headers.append((ID_HEADER, given))
        value = message.value()
        return Record(self._target, None, value[:MOST_BYTES] if value is not None else None, tuple(headers))

    def _run(self) -> None:
        backoff = Backoff()
        while not self._stopped.is_set():
            try:
                if partitions := self._found():
                    self._follow(partitions)
            except (KafkaException, TablecastError) as error:
                self._complain(str(error))
                self._stopped.wait(backoff.next(time.monotonic()))

    def _follow(self, partitions: int) -> None:
        """Until it is stopped; from behind what was taken before."""
        consumer = make_consumer(self._kafka, OWN)
        try:
            consumer.assign([TopicPartition(self._topic, number, self._next.get(number, 0)) for number in range(partitions)])
            while not self._stopped.is_set():
                first = consumer.poll(POLL_SECONDS)
                for message in [] if first is None else [first, *consumer.consume(BATCH - 1, 0)]:
                    self._take(message)
        finally:
            consumer.close()

    def _take(self, message: Message) -> None:
        if (error := message.error()) is not None:
            if not concerns_group(error):
                self._complain(error.str())
            return
        while not self._stopped.is_set():
            try:
                self._read.put(message, timeout=POLL_SECONDS)
            except queue.Full:
                continue
            self._next[message.partition() or 0] = (message.offset() or 0) + 1
            self._told = ""
            return

    def _complain(self, reason: str) -> None:
        """Once, until a message comes again."""
        if reason != self._told:
            self._told = reason
            log.warning("[orchestrator] the control topic %s is not read now, and is tried again: %s", self._topic, reason)

    def _found(self) -> int:
        """Its partitions, once it is there; that it is not is nothing to complain of: the page and the command line do without."""
        while not self._stopped.is_set():
            try:
                return Topics(self._kafka, "source").partitions(self._topic)
            except TopicMissing:
                pass
            except TablecastError as error:
                self._complain(str(error))
            self._stopped.wait(ABSENT_SECONDS)
        return 0
