"""Tells the orchestrator what this server shows: an old generation is retired only when nobody shows it any more."""

import logging
import threading
import uuid
from contextlib import suppress
from datetime import UTC, datetime

from confluent_kafka import KafkaError, Message

from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import servers_topic
from tablecast.kafka.status import SERVER_SECONDS, ServerStatus, told_time
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

_RETRY_SECONDS = 0.5
_ANSWER_SECONDS = 0.5
_OWN: dict[str, str | int] = {
    "acks": "all",
    "linger.ms": 0,
    "message.timeout.ms": round(SERVER_SECONDS * 1000),
    # With one request at a time no older word overtakes a newer one.
    "max.in.flight": 1,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
}


class Presence:
    """A thread that writes at once what `tell` says, and again every SERVER_SECONDS; on a clean end it takes its word back.

    Nobody waits for it. A word that the broker did not take is said again, in its newest form. Before the topic exists nothing is written:
    some brokers would create it, in a form that is not ours.
    """

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        """Raises ConfigurationError."""
        self.server = uuid.uuid4().hex
        self.topic = servers_topic(prefix)
        self._producer = make_producer(kafka, _OWN)
        self._shows: int | None = None
        self._reads: int | None = None
        self._known = False
        self._taken = False
        self._stopped = False
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._run, name="presence", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def tell(self, shows: int | None, reads: int | None) -> None:
        """From any thread; returns at once."""
        if (shows, reads) != (self._shows, self._reads):
            self._shows, self._reads = shows, reads
            self._news.set()

    def observed(self, exists: bool) -> None:
        """Whether the topic is there."""
        if exists and not self._known:
            self._news.set()
        self._known = exists

    def stop(self) -> None:
        self._stopped = True
        self._news.set()

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    def status(self) -> ServerStatus:
        return ServerStatus(self.server, self._shows, self._reads, told_time(datetime.now(UTC)))

    def _run(self) -> None:
        while not self._stopped:
            self._news.clear()
            if self._known and not self._say(self.status().encode()):
                self._news.wait(_RETRY_SECONDS)
            else:
                self._news.wait(SERVER_SECONDS)
        if self._known:
            self._produce(None)

    def _say(self, value: bytes) -> bool:
        """Whether the broker has it. Until the last word is answered there is no next one."""
        if len(self._producer):
            self._producer.flush(_ANSWER_SECONDS)
            return False
        return self._produce(value)

    def _produce(self, value: bytes | None) -> bool:
        self._taken = False
        with suppress(BufferError):
            self._producer.produce(self.topic, value, self.server.encode(), partition=0, on_delivery=self._answered)
        return self._producer.flush(_ANSWER_SECONDS) == 0 and self._taken

    def _answered(self, error: KafkaError | None, message: Message) -> None:
        self._taken = error is None
        if error is not None:
            log.debug("[server] %s did not take what this server shows: %s", self.topic, error.str())
