"""Rows like those of final_ui, made up by a seed."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from bench.views_records import Record

KINDS = ("checking", "savings", "credit")


@dataclass(frozen=True)
class Person:
    number: int
    age: int
    balance: float

    def columns(self) -> dict[str, str | int | float]:
        n = self.number
        texts = {"userId": f"u{n}", "name": f"Person {n}", "email": f"u{n}@example.com"}
        return {**texts, "age": self.age, "accountType": KINDS[n % 3], "balance": self.balance}

    def record(self, version: int) -> Record:
        """As Spark writes it: an int64 as digits in a string, the version with a left and a right order."""
        row = self.columns() | {"age": str(self.age)}
        order = 1_700_000_000_000 + self.number
        return b"0-%d" % self.number, msgspec.json.encode(row), b"%d:0:%d|%d:0:%d" % (order, self.number, order + version, version)


def people(numbers: Iterable[int], rng: random.Random) -> list[Person]:
    return [Person(number, rng.randrange(1, 100), round(rng.random() * 100_000, 2)) for number in numbers]
