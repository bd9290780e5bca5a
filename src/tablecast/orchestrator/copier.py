"""Copies the user's control topic, which we may only read, into our own: its order is the order of the verdicts."""

import json
import logging
import queue
import threading
from collections.abc import Iterable

from confluent_kafka import KafkaException, Message, TopicPartition

from tablecast.errors import TablecastError, TopicMissing
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.control import COPIED_HEADER, ID_HEADER, header
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
        partitions = self._found()
        if partitions == 0:
            return
        consumer = make_consumer(self._kafka, OWN)
        try:
            consumer.assign([TopicPartition(self._topic, number, self._next.get(number, 0)) for number in range(partitions)])
            while not self._stopped.is_set():
                first = consumer.poll(POLL_SECONDS)
                for message in [] if first is None else [first, *consumer.consume(BATCH - 1, 0)]:
                    self._take(message)
        except KafkaException as error:
            log.error("[orchestrator] the control topic %s cannot be read any more: %s", self._topic, error)
        finally:
            consumer.close()

    def _take(self, message: Message) -> None:
        while message.error() is None and not self._stopped.is_set():
            try:
                self._read.put(message, timeout=POLL_SECONDS)
            except queue.Full:
                continue
            return

    def _found(self) -> int:
        """Its partitions, once it is there; that it is not is nothing to complain of: the page and the command line do without."""
        told = ""
        while not self._stopped.is_set():
            try:
                return Topics(self._kafka, "source").partitions(self._topic)
            except TopicMissing:
                pass
            except TablecastError as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("[orchestrator] the control topic is not read yet: %s", told)
            self._stopped.wait(ABSENT_SECONDS)
        return 0
