"""Copies the user's control topic, which we may only read, into our own: its order is the order of the verdicts."""

import logging
import queue
import threading
import time

from confluent_kafka import KafkaException, Message, TopicPartition

from tablecast.errors import TablecastError, TopicMissing
from tablecast.kafka.admin import Topic, Topics
from tablecast.kafka.clients import concerns_group, make_consumer
from tablecast.kafka.control import ID_HEADER, MOST_ID, header
from tablecast.kafka.names import control_topic, status_topic
from tablecast.kafka.status import COPIED_KEY, Copied
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.ledger import Record
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

ABSENT_SECONDS = 2.0
POLL_SECONDS = 0.2
WATCH_SECONDS = 10.0
"""How often it is looked whether the topic has more partitions now, or is another one."""
BATCH = 1000
MOST_BYTES = 65_536
"""Of a message: a longer one is cut, and refused for what is left of it."""
OWN = {"group.id": "tablecast-control", "enable.auto.commit": False, "auto.offset.reset": "error"}


class Copier:
    """Reads in a thread of its own; what it read is written by who leads, together with how far it came, so that nothing is copied twice."""

    def __init__(self, kafka: KafkaSettings, topic: str, prefix: str, ours: Topic, known: Copied | None) -> None:
        """`ours` is where to; where it is the user's topic too, nothing is copied. `known` is how far that was done before."""
        self._kafka = kafka
        self._topic = topic
        self._ours = ours
        self._target, self._status = control_topic(prefix), status_topic(prefix)
        self._copied = known or Copied("", {})
        self._read: queue.Queue[tuple[Record, Copied]] = queue.Queue(2 * BATCH)
        """What is to be written, and how far it is then."""
        self._told = ""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="control copier", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def taken(self) -> list[Record]:
        """What has been read since the last call and how far that is, ready to be written, all or none."""
        read = [self._read.get() for _ in range(min(BATCH, self._read.qsize()))]
        return [*(record for record, _ in read), Record(self._status, COPIED_KEY, read[-1][1].encode())] if read else []

    def _record(self, message: Message) -> Record:
        """Cut before it waits: a flood of large messages must not fill the memory."""
        value, given = message.value(), header(message, ID_HEADER)
        headers = () if given is None else ((ID_HEADER, given[:MOST_ID]),)
        return Record(self._target, None, value[:MOST_BYTES] if value is not None else None, headers)

    def _run(self) -> None:
        backoff = Backoff()
        while not self._stopped.is_set():
            try:
                found = self._found()
                if found == self._ours:
                    log.info("[orchestrator] the control topic %s is our own", self._topic)
                    return
                if found is not None:
                    self._follow(found)
            except (KafkaException, TablecastError) as error:
                self._complain(str(error))
                self._stopped.wait(backoff.next(time.monotonic()))

    def _follow(self, topic: Topic) -> None:
        """From behind what was read of it before, until it is stopped or there is another topic, or one of more partitions, under its name."""
        consumer, places = make_consumer(self._kafka, OWN), self._places(topic)
        due = time.monotonic() + WATCH_SECONDS
        try:
            consumer.assign(places)
            while not self._stopped.is_set():
                first = consumer.poll(POLL_SECONDS)
                for message in [] if first is None else [first, *consumer.consume(BATCH - 1, 0)]:
                    self._take(topic.id, message)
                if time.monotonic() >= due:
                    if Topics(self._kafka, "source").find(self._topic) != topic:
                        return
                    due = time.monotonic() + WATCH_SECONDS
        finally:
            consumer.close()

    def _places(self, topic: Topic) -> list[TopicPartition]:
        """Where to read on: what retention has deleted meanwhile nobody can read."""
        begins = Topics(self._kafka, "source").begin_offsets(self._topic)
        known = self._copied.offsets if self._copied.topic == topic.id else {}
        return [TopicPartition(self._topic, number, max(known.get(number, 0), begins.get(number, 0))) for number in topic.partitions]

    def _take(self, topic: str, message: Message) -> None:
        """KafkaException where it is none: the topic may be another one now."""
        if (error := message.error()) is not None:
            if concerns_group(error):
                return
            raise KafkaException(error)
        before = self._copied.offsets if self._copied.topic == topic else {}
        behind = Copied(topic, {**before, message.partition() or 0: (message.offset() or 0) + 1})
        while not self._stopped.is_set():
            try:
                self._read.put((self._record(message), behind), timeout=POLL_SECONDS)
            except queue.Full:
                continue
            self._copied, self._told = behind, ""
            return

    def _complain(self, reason: str) -> None:
        """Once, until a message comes again."""
        if reason != self._told:
            self._told = reason
            log.warning("[orchestrator] the control topic %s is not read now, and is tried again: %s", self._topic, reason)

    def _found(self) -> Topic | None:
        """The topic, once it is there; that it is not is nothing to complain of: the page and the command line do without."""
        while not self._stopped.is_set():
            try:
                return Topics(self._kafka, "source").find(self._topic)
            except TopicMissing:
                pass
            except TablecastError as error:
                self._complain(str(error))
            self._stopped.wait(ABSENT_SECONDS)
        return None
