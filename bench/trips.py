"""One span of messages at a steady rate, and when the row of each of them arrived."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bench.arrivals import Arrivals
from bench.figures import Trip
from bench.sender import Schedule, Sender
from bench.subject import Subject, key_of, random_keys
from tablecast.settings import KafkaSettings

LATE_SECONDS = 60.0
POLL_SECONDS = 0.5
TELL_SECONDS = 5.0

Rows = dict[str, tuple[int, int | None]]
"""By userId the numbers of the messages that a row of final_ui shows: of the user, and of the account."""


@dataclass(frozen=True)
class Span:
    """So many `seconds` of messages are measured, after `settle` seconds of others. Numbers begin at `first`, which is that of a message of the
    first source."""

    subject: Subject
    rate: float
    keys: int
    seconds: float
    settle: float = 0.0
    first: int = 0
    linger_ms: float = 0.0

    @property
    def numbers(self) -> range:
        """Of all messages, a whole round of the sources."""
        sources = len(self.subject.sources)
        return range(self.first, self.first + -(-round(self.rate * (self.settle + self.seconds)) // sources) * sources)

    @property
    def key_by_number(self) -> dict[int, str]:
        return dict(zip(self.numbers, islice(random_keys(self.keys), len(self.numbers)), strict=True))

    @property
    def measured(self) -> list[int]:
        return self.subject.measured(range(self.first + round(self.rate * self.settle), self.numbers.stop))


@dataclass(frozen=True)
class Course:
    """What came of a span: the trips of the measured messages, those that never arrived, how many were replaced unseen, the rate really sent."""

    trips: list[Trip]
    missing: list[int]
    replaced: int
    sent_per_s: float


def taken(kafka: KafkaSettings, span: Span, arrivals: Arrivals, say: Callable[[str], None]) -> Course:
    """Sends the span, and waits until what is measured of it has arrived, or has had its time."""
    sender = Sender(kafka, Schedule(span.subject, span.rate, span.keys, len(span.numbers), span.first, span.linger_ms))
    sender.start()
    told = time.monotonic()
    while sender.alive:
        time.sleep(POLL_SECONDS)
        if time.monotonic() - told >= TELL_SECONDS:
            told = time.monotonic()
            say(f"{arrivals.count()} messages seen")
    sent = sender.wait()
    for failure in sent.failures:
        say(f"not sent: {failure}")
    seen, arrived = _awaited(span, arrivals)
    missing = [number for number in span.measured if number not in arrived]
    if missing:
        say(f"{len(missing)} messages were not seen, the first is number {missing[0]}")
    trips = [Trip(sent.times[number - span.first], arrived[number]) for number in span.measured if number in arrived]
    return Course(trips, missing, sum(number not in seen for number in span.measured) - len(missing), sent.per_second)


def _awaited(span: Span, arrivals: Arrivals) -> tuple[dict[int, float], dict[int, float]]:
    """What was seen itself, and what has arrived with it, once that is everything, or has had its time."""
    deadline = time.monotonic() + LATE_SECONDS
    keys = span.key_by_number
    while True:
        seen = {number: moment for number, moment in arrivals.first_seen().items() if number >= span.first}
        arrived = with_replaced(span.subject, keys, seen)
        if all(number in arrived for number in span.measured) or time.monotonic() >= deadline:
            return seen, arrived
        time.sleep(POLL_SECONDS)


def with_replaced(subject: Subject, keys: Mapping[int, str], seen: Mapping[int, float]) -> dict[int, float]:
    """Adds the messages whose row nobody saw because a newer one of the same key and source was in it already. `keys` has that of each message."""
    arrived: dict[int, float] = {}
    newer: dict[tuple[str, str], float] = {}
    for number in sorted(keys, reverse=True):
        lane = (subject.source_of(number), keys[number])
        moments = [seen[number]] if number in seen else []
        moments += [newer[lane]] if subject.may_be_replaced(number) and lane in newer else []
        if moments:
            arrived[number] = newer[lane] = min(moments)
    return arrived


def last_rows(*spans: Span) -> Rows:
    """What final_ui shows of the last rows after the spans: the last user of each key, the first of which were sent before, and the last account."""
    rows: Rows = {key_of(index): (-1 - index, None) for index in range(spans[0].keys)}
    for span in spans:
        for number, key in span.key_by_number.items():
            user, account = rows[key]
            rows[key] = (number, account) if span.subject.source_of(number) == "users" else (user, number)
    return rows


def joined(courses: Sequence[Course]) -> Course:
    """Several spans as one."""
    trips = [trip for course in courses for trip in course.trips]
    missing = [number for course in courses for number in course.missing]
    rates = [course.sent_per_s for course in courses]
    return Course(trips, missing, sum(course.replaced for course in courses), sum(rates) / len(rates))
