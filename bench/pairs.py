"""Two pairs of topics to swap between, with records that go on coming, and what every table must hold over each pair."""

import multiprocessing
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection

from bench.backlog import FLUSH_SECONDS, IN_BULK
from bench.subject import message, random_keys
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer
from tablecast.settings import KafkaSettings

PAIRS: tuple[Mapping[str, str], ...] = ({"users": "users", "accounts": "accounts"}, {"users": "users_b", "accounts": "accounts_b"})
SOURCES = ("users", "accounts")

Numbers = tuple[int, int | None]
"""Of the messages that a row shows: of its left or only source, and of its right one."""


@dataclass(frozen=True)
class Record:
    """A message of a pair. Numbers of the first pair are even, those of the second odd, so that a row tells whose it is."""

    number: int
    key: str
    ts: int
    sent: float

    @property
    def pair(self) -> int:
        return self.number % 2

    @property
    def source(self) -> str:
        return SOURCES[self.number // 2 % 2]


def numbered(keys: int, first: int = 0) -> Iterator[tuple[int, str]]:
    """Numbers with their keys, without end: the pairs in turn, and in each pair the sources in turn."""
    return zip(count(first), random_keys(keys, first), strict=False)


def send_backlog(kafka: KafkaSettings, rows: int, keys: int) -> list[Record]:
    """`rows` messages in each pair, a millisecond apart, the last of them now."""
    topics = Topics(kafka, "source")
    for pair in PAIRS:
        for topic in pair.values():
            topics.ensure(topic, 1, {"retention.ms": "-1"})
    producer = make_producer(kafka, {**IN_BULK, "enable.idempotence": True})
    start = int(time.time() * 1000) - 2 * rows
    records = []
    for number, key in numbered(keys):
        if number == 2 * rows:
            break
        records.append(Record(number, key, start + number, 0.0))
        producer.produce(PAIRS[number % 2][records[-1].source], message(records[-1].source, number, key), timestamp=start + number)
        producer.poll(0)
    if left := producer.flush(FLUSH_SECONDS):
        raise TimeoutError(f"{left} messages were not taken within {FLUSH_SECONDS:g} s")
    return records


class Truth:
    """What the tables over a pair hold after some records, which came in the order of their times."""

    def __init__(self, pair: int, records: Sequence[Record]) -> None:
        self._users = [record for record in records if record.pair == pair and record.source == "users"]
        self._accounts = [record for record in records if record.pair == pair and record.source == "accounts"]

    def rows(self, table: str, join: str) -> list[Numbers]:
        """In the order of the table."""
        if table == "users_ui":
            return [(user.number, None) for user in self._users]
        if table == "account":
            return [(account.number, None) for account in self._accounts]
        last = {account.key: account.number for account in self._accounts}
        if table == "accounts_ui":
            return [(number, None) for number in last.values()]
        if table == "final_ui":
            return [(user.number, last.get(user.key)) for user in self._users if join == "left" or user.key in last]
        return self._as_of()

    def _as_of(self) -> list[Numbers]:
        times: dict[str, list[int]] = defaultdict(list)
        numbers: dict[str, list[int]] = defaultdict(list)
        for user in self._users:
            times[user.key].append(user.ts)
            numbers[user.key].append(user.number)
        places = [(account, bisect_right(times[account.key], account.ts)) for account in self._accounts]
        return [(account.number, numbers[account.key][place - 1] if place else None) for account, place in places]


class Stream:
    """Sends on at a steady rate, in a process of its own. Between `resume` and `pause` it runs; `pause` tells what was sent since."""

    def __init__(self, kafka: KafkaSettings, rate: float, keys: int, first: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._orders, orders = context.Pipe()
        self._process = context.Process(target=_stream, args=(kafka, rate, keys, first, orders), name="stream", daemon=True)
        self._process.start()

    def resume(self) -> None:
        self._orders.send("resume")

    def pause(self) -> list[Record]:
        """Returns when the broker has all of it."""
        self._orders.send("pause")
        records: list[Record] = self._orders.recv()
        return records

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def _stream(kafka: KafkaSettings, rate: float, keys: int, first: int, orders: Connection) -> None:
    producer = make_producer(kafka, {"linger.ms": 0, "enable.idempotence": True})
    source = numbered(keys, first)
    while orders.recv() == "resume":
        records: list[Record] = []
        started = time.time()
        while not orders.poll(max(0.0, started + len(records) / rate - time.time())):
            number, key = next(source)
            now = time.time()
            records.append(Record(number, key, int(now * 1000), now))
            producer.produce(PAIRS[number % 2][records[-1].source], message(records[-1].source, number, key), timestamp=records[-1].ts)
            producer.poll(0)
        orders.recv()
        if producer.flush(FLUSH_SECONDS):
            raise TimeoutError("the stream was not taken")
        orders.send(records)
