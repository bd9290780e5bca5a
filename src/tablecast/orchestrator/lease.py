"""Who leads: exactly one orchestrator acts, others wait for its pulse to end."""

import threading
import time

import msgspec
from confluent_kafka import KafkaError as Code
from confluent_kafka import Message

from tablecast.kafka.clients import assign_from_beginning, make_consumer
from tablecast.kafka.status import PULSE_KEY, PULSE_SECONDS, Pulse, decode_pulse
from tablecast.settings import KafkaSettings

LEASE_SECONDS = 5 * PULSE_SECONDS
POLL_SECONDS = 0.1


class Lease:
    """Decides from pulses alone, by this machine's own clock. Being wrong does no harm: who takes the lead fences who had it."""

    def __init__(self) -> None:
        self.leader: str | None = None
        self._heard = 0.0

    def hear(self, pulse: Pulse, now: float) -> None:
        self.leader, self._heard = pulse.leader, now

    def is_free(self, now: float) -> bool:
        return self.leader is None or now - self._heard >= LEASE_SECONDS


class LeaseWatch:
    """Listens to the status topic in a thread of its own: the silence of a dead leader is over when Spark is up."""

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        """The topic must exist."""
        self.lease = Lease()
        self._consumer = make_consumer(kafka, {"group.id": topic, "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 50})
        self._topic = topic
        self._caught_up = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_free(self) -> bool:
        """Never before all that stands on the topic was heard."""
        return self._caught_up.is_set() and self.lease.is_free(time.monotonic())

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        assign_from_beginning(self._consumer, [(self._topic, 0)])
        try:
            while not self._stopped.is_set():
                for message in self._consumer.consume(1000, POLL_SECONDS):
                    self._take(message)
        finally:
            self._consumer.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            if error.code() == Code._PARTITION_EOF:
                self._caught_up.set()
        elif message.key() == PULSE_KEY:
            try:
                self.lease.hear(decode_pulse(message.value() or b"{}"), time.monotonic())
            except msgspec.DecodeError:
                return
