"""A backlog of numbered messages in the topics `users` and `accounts`, and what every table must hold after it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bench.subject import message, random_keys
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer
from tablecast.settings import KafkaSettings

START_MS = 1_700_000_000_000
SOURCES = ("users", "accounts")
IN_BULK = {"linger.ms": 50, "batch.size": 1_000_000, "queue.buffering.max.messages": 1_000_000}
FLUSH_SECONDS = 120.0
TELL_EVERY = 500_000

Cells = Mapping[str, Any]


@dataclass(frozen=True)
class Backlog:
    """`messages` over `keys`, users and accounts in turn, a millisecond apart."""

    messages: int
    keys: int

    def numbered(self) -> Iterator[tuple[int, str, str]]:
        """Number, source and key of each message. The offset of a message is half its number."""
        for number, key in enumerate(islice(random_keys(self.keys), self.messages)):
            yield number, SOURCES[number % 2], key

    def send(self, kafka: KafkaSettings, say: Callable[[str], None]) -> None:
        topics = Topics(kafka)
        for source in SOURCES:
            topics.ensure(source, 1, {"retention.ms": "-1"})
        producer = make_producer(kafka, IN_BULK)
        for number, source, key in self.numbered():
            producer.produce(source, message(source, number, key), timestamp=START_MS + number)
            producer.poll(0)
            if number % TELL_EVERY == TELL_EVERY - 1:
                say(f"{number + 1:,} messages sent")
        if left := producer.flush(FLUSH_SECONDS):
            raise TimeoutError(f"{left} messages were not taken within {FLUSH_SECONDS:g} s")


class Truth:
    """The rows of the default tables, by row id, as pairs of message numbers: of the left side, and of the right."""

    def __init__(self, backlog: Backlog) -> None:
        self.users_ui: dict[str, tuple[int, int | None]] = {}
        self.account: dict[str, tuple[int, int | None]] = {}
        self.user_account: dict[str, tuple[int, int | None]] = {}
        self.last: dict[str, dict[str, int]] = {source: {} for source in SOURCES}
        self._key_of_user: dict[str, str] = {}
        for number, source, key in backlog.numbered():
            row_id = f"0-{number // 2}"
            if source == "users":
                self.users_ui[row_id] = (number, None)
                self._key_of_user[row_id] = key
            else:
                self.account[row_id] = (number, None)
                self.user_account[row_id] = (number, self.last["users"].get(key))
            self.last[source][key] = number

    def rows(self, table: str, keep_last: bool) -> Mapping[str, tuple[int, int | None]]:
        if table == "accounts_ui":
            return {key: (number, None) for key, number in self.last["accounts"].items()}
        if table == "final_ui":
            accounts = self.last["accounts"]
            if keep_last:
                return {key: (number, accounts.get(key)) for key, number in self.last["users"].items()}
            return {row_id: (number, accounts.get(self._key_of_user[row_id])) for row_id, (number, _) in self.users_ui.items()}
        rows: Mapping[str, tuple[int, int | None]] = getattr(self, table)
        return rows


def numbers_in(table: str, row: Cells) -> tuple[int, int | None]:
    """The numbers of the messages that a row shows: of its left or only source, and of its right one."""
    name, kind = (row.get(column) for column in ("name", "accountType"))
    user, account = (None if cell is None else int(cell) for cell in (name, kind))
    left, right = (account, user) if table in ("account", "accounts_ui", "user_account") else (user, account)
    if left is None:
        raise ValueError(f"{table}: a row without its left side: {dict(row)}")
    return left, right
