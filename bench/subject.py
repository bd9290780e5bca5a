"""What is sent and what is looked at when a table is measured."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

NEWEST = 1_000_000_000
"""An offset beyond every end: the window follows the last rows."""


@dataclass(frozen=True)
class Look:
    """A view, and the end of it at which changes show up."""

    offset: int = NEWEST
    sort: tuple[tuple[str, bool], ...] = ()


TAIL = Look()
# An account's balance is its number, so the rows that it changes go to the top.
TOP = Look(0, (("balance", True),))


@dataclass(frozen=True)
class Subject:
    """A table to measure.

    Messages alternate between `sources`. `stamps` are the columns that show a message's number, with its source; messages of other sources only
    make work. Where a newer message of a key may replace an older one before anybody sees it, the source is in `replacing`.
    """

    table: str
    sources: tuple[str, ...]
    stamps: Mapping[str, str]
    looks: tuple[Look, ...] = (TAIL,)
    replacing: frozenset[str] = field(default_factory=frozenset)

    def source_of(self, number: int) -> str:
        return self.sources[number % len(self.sources)]

    def measured(self, numbers: range) -> list[int]:
        return [number for number in numbers if self.source_of(number) in self.stamps.values()]

    def at_its_end(self) -> "Subject":
        """What shows up among the last rows, where one who looks at one end of the table can see it: its first source only."""
        (column, source), *_ = self.stamps.items()
        return self if len(self.looks) == 1 else replace(self, stamps={column: source}, looks=(TAIL,))

    def may_be_replaced(self, number: int) -> bool:
        return self.source_of(number) in self.replacing


SUBJECTS = {
    subject.table: subject
    for subject in (
        Subject("users_ui", ("users",), {"name": "users"}),
        Subject("final_ui", ("users", "accounts"), {"name": "users", "accountType": "accounts"}, (TAIL, TOP), frozenset({"accounts"})),
        Subject("user_account", ("users", "accounts"), {"accountType": "accounts"}),
    )
}

# Where final_ui keeps the last row of each user, a newer message of either side may replace an older one.
LAST_BY_USER = Subject("final_ui", ("users", "accounts"), {"name": "users", "accountType": "accounts"}, replacing=frozenset({"users", "accounts"}))


def key_of(number: int) -> str:
    return f"u{number:07d}"


def random_keys(keys: int, seed: int = 7) -> Iterator[str]:
    dice = random.Random(seed)
    while True:
        yield key_of(dice.randrange(keys))


def message(source: str, number: int, key: str) -> bytes:
    """The value of a message of the default catalogue, with its number as text in the column that a `Subject` looks at."""
    if source == "users":
        value: dict[str, Any] = {"userId": key, "name": str(number), "email": f"{key}@example.com", "age": abs(number) % 90}
    else:
        value = {"userId": key, "accountType": str(number), "balance": number}
    return json.dumps(value).encode()
