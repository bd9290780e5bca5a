"""Sends numbered messages at a steady rate, from a process of its own, so that nothing here waits for its turn."""

import multiprocessing
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from bench.subject import Subject, key_of, message, random_keys
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer
from tablecast.settings import KafkaSettings

FLUSH_SECONDS = 30.0
MOST_QUEUED = 2_000_000
AHEAD_SECONDS = 0.0005
"""A message may leave so much before its time: at a high rate a sleep between any two would cost more than the sending."""


@dataclass(frozen=True)
class Schedule:
    """`count` messages at `rate` a second over `keys` keys. Numbers are those of the messages, from `first` on."""

    subject: Subject
    rate: float
    keys: int
    count: int
    first: int = 0
    linger_ms: float = 0.0


@dataclass(frozen=True)
class Sent:
    """What came of a schedule: the moment of each send, in turn, and what the broker did not take."""

    times: Sequence[float]
    failures: tuple[str, ...]

    @property
    def per_second(self) -> float:
        """The rate that was really sent."""
        took = self.times[-1] - self.times[0] if self.times else 0.0
        return len(self.times) / took if took else 0.0


def send_users(kafka: KafkaSettings, keys: int, known: int = 0) -> None:
    """One users row for each key after the `known` ones, so that every account finds its user. Numbers are negative: no such row is measured."""
    producer = make_producer(kafka, {"linger.ms": 5, "queue.buffering.max.messages": MOST_QUEUED})
    for index in range(known, keys):
        producer.produce("users", message("users", -1 - index, key_of(index)))
        producer.poll(0)
    if producer.flush(FLUSH_SECONDS):
        raise TimeoutError("the first users were not taken")


def open_sources(kafka: KafkaSettings, keys: int) -> None:
    """The topics that the orchestrator waits for, with a user for each key."""
    topics = Topics(kafka, "source")
    for source in ("users", "accounts"):
        topics.ensure(source, 1)
    send_users(kafka, keys)


class Sender:
    """`start`, then `wait` for what came of it. Ends with this process, whatever happens to it."""

    def __init__(self, kafka: KafkaSettings, schedule: Schedule) -> None:
        context = multiprocessing.get_context("spawn")
        self._answer, answer = context.Pipe(duplex=False)
        self._process = context.Process(target=_send, args=(kafka, schedule, answer), name="sender", daemon=True)
        self.schedule = schedule

    def start(self) -> None:
        self._process.start()

    @property
    def alive(self) -> bool:
        return self._process.is_alive() and not self._answer.poll()

    def wait(self) -> Sent:
        """Raises EOFError when the sender died."""
        sent: Sent = self._answer.recv()
        self._process.join()
        return sent


def _send(kafka: KafkaSettings, schedule: Schedule, answer: Connection) -> None:
    failures: list[str] = []
    producer = make_producer(kafka, {"linger.ms": schedule.linger_ms, "delivery.report.only.error": True})
    # Encoded before the clock starts: at a high rate that would take longer than the time between two messages.
    messages = list(_messages(schedule))
    times = array("d")
    started = time.time()
    for place, (source, value) in enumerate(messages):
        ahead = started + place / schedule.rate - time.time()
        if ahead > AHEAD_SECONDS:
            producer.poll(0)
            time.sleep(ahead)
        times.append(time.time())
        producer.produce(source, value, on_delivery=lambda error, _: failures.append(error.str()) if error else None)
    if left := producer.flush(FLUSH_SECONDS):
        failures.append(f"{left} messages were not taken within {FLUSH_SECONDS:g} s")
    answer.send(Sent(times, tuple(failures)))


def _messages(schedule: Schedule) -> Iterator[tuple[str, bytes]]:
    keys = random_keys(schedule.keys)
    for number in range(schedule.first, schedule.first + schedule.count):
        source = schedule.subject.source_of(number)
        yield source, message(source, number, next(keys))
