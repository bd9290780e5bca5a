"""The one writer of our lasting topics: what belongs together is written in one transaction, and only by the orchestrator that leads."""

import logging
import threading
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException, Producer

from tablecast.errors import BrokerUnreachable, LeadLost, TablecastError, TopicMissing
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import code_of, make_producer, translated
from tablecast.kafka.complaints import LastComplaint
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

FENCED = frozenset({Code._FENCED, Code.INVALID_PRODUCER_EPOCH, Code.INVALID_PRODUCER_ID_MAPPING})
OWN = {"acks": "all", "enable.idempotence": True, "linger.ms": 0, "transaction.timeout.ms": 60_000}
CALL_SECONDS = 10.0
COMMIT_SECONDS = 3.0
"""After this it is asked again, and looked whether there is anything to commit to."""
AGAIN_SECONDS = 0.2


@dataclass(frozen=True)
class Record:
    """A record of partition 0."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class Ledger:
    """Writes with a fixed transactional.id: opening a second one, anywhere, fences the first. Called from several threads."""

    def __init__(self, kafka: KafkaSettings, name: str, stop: threading.Event) -> None:
        """BrokerUnreachable if the lead cannot be taken now."""
        self.kafka = kafka
        self.lost: LeadLost | TopicMissing | None = None
        """Why nothing can be written any more: another one leads, or a topic was deleted."""
        self._stop = stop
        self._lock = threading.Lock()
        self._name = name
        self._complaint = LastComplaint()
        self._told = ""
        self._producer: Producer = make_producer(kafka, {**OWN, "transactional.id": name, "error_cb": self._complaint})
        try:
            self._producer.init_transactions(CALL_SECONDS * 3)
        except KafkaException as error:
            self._producer.poll(0)
            raise translated(error, kafka, "changelog", name, "lead", self._complaint) from error

    def write(self, records: Sequence[Record], seconds: float | None = None) -> None:
        """Returns when all are on the broker, none without the others. While the broker is away it is tried again, up to `seconds`, else until
        the orchestrator is stopped. LeadLost if another one leads; TopicMissing if a topic was deleted; BrokerUnreachable when it was given up."""
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._lock:
            while not self._try(records):
                if self._stop.is_set() or (deadline is not None and time.monotonic() >= deadline):
                    raise BrokerUnreachable("changelog", self.kafka.servers, f"nothing can be written as {self._name!r}")
                self._stop.wait(AGAIN_SECONDS)

    def _try(self, records: Sequence[Record]) -> bool:
        """Whether they are written. An attempt that failed left nothing behind."""
        if self.lost is not None:
            raise self.lost
        try:
            self._producer.begin_transaction()
            for record in records:
                self._producer.produce(record.topic, record.value, record.key, partition=0, headers=list(record.headers))
            self._producer.commit_transaction(COMMIT_SECONDS)
        except KafkaException as error:
            return self._settled(error, {record.topic for record in records})
        except BufferError:
            self._producer.poll(AGAIN_SECONDS)
            self._abort()
            return False
        self._complaint.forget()
        self._told = ""
        return True

    def _tell(self) -> None:
        """Why nothing can be written, once."""
        self._producer.poll(0)
        if self._complaint.reason and self._complaint.reason != self._told:
            self._told = self._complaint.reason
            log.warning("[orchestrator] a write is tried again: %s", self._complaint.error("changelog", self.kafka, ""))

    def _settled(self, error: KafkaException, topics: Set[str]) -> bool:
        """What became of a transaction that went wrong: whether it was committed after all."""
        code = code_of(error)
        while code.retriable() and not code.fatal() and not code.txn_requires_abort():
            if self._stop.is_set():
                return False
            self._tell()
            self._look_for(topics)
            try:
                self._producer.commit_transaction(COMMIT_SECONDS)
            except KafkaException as again:
                code = code_of(again)
            else:
                return True
        if code.fatal() or code.code() in FENCED:
            self.lost = LeadLost(self._name, code.str().rstrip("."))
            raise self.lost from error
        self._abort()
        if not code.txn_requires_abort():
            # Of no use to be tried again: a right that is missing, a record that is too large.
            raise translated(error, self.kafka, "changelog", self._name, "write")
        if not self._told:
            log.warning("[orchestrator] a write is tried again: %s", code.str())
        return False

    def _look_for(self, topics: Set[str]) -> None:
        """A record of a topic that is gone would be waited for until the broker gives the transaction up, and the lead with it."""
        try:
            for topic in topics:
                Topics(self.kafka, timeout=COMMIT_SECONDS).find(topic)
        except TopicMissing as missing:
            self.lost = missing
            raise
        except TablecastError as error:
            log.debug("[orchestrator] whether its topics are there is not known: %s", error)

    def _abort(self) -> None:
        try:
            self._producer.abort_transaction(CALL_SECONDS)
        except KafkaException as error:
            code = code_of(error)
            if code.fatal() or code.code() in FENCED:
                self.lost = LeadLost(self._name, code.str().rstrip("."))
                raise self.lost from error
