"""Makes up users and accounts."""

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FIRST_NAMES = (
    *("Amara", "Anna", "Ben", "Carlos", "Chloé", "Daniel", "Elif", "Emma", "Farid", "Fatima", "Grace", "Hiro", "Ingrid", "Ivan", "Jana"),
    *("José", "Kwame", "Laila", "Liam", "Lucía", "Marta", "Mateo", "Mei", "Mohamed", "Nadia", "Noah", "Olga", "Omar", "Priya", "Rafael"),
    *("Ravi", "Rosa", "Sara", "Sofia", "Sven", "Tariq", "Thandi", "Tomás", "Uma", "Viktor", "Wanjiru", "Yara", "Yusuf", "Zoë"),
)
LAST_NAMES = (
    *("Abebe", "Almeida", "Andersson", "Bauer", "Chen", "Cohen", "Costa", "Dubois", "Eriksen", "Fernández", "Fischer", "García", "Haddad"),
    *("Hansen", "Ivanova", "Jansen", "Kaur", "Khan", "Kim", "Kowalski", "Lindqvist", "López", "Martin", "Mbeki", "Moreau", "Müller"),
    *("Nakamura", "Nguyen", "Novak", "O'Brien", "Okafor", "Olsen", "Patel", "Popescu", "Rossi", "Sato", "Silva", "Singh", "Smith"),
    *("Tanaka", "Wang", "Yılmaz"),
)
MAIL_HOSTS = ("example.com", "example.org", "example.net", "mail.example.com")
ACCOUNT_TYPES = {"CHECKING": (1_200, 1.1), "SAVINGS": (8_000, 1.3), "BROKERAGE": (25_000, 1.6), "CREDIT": (-600, 0.9)}


@dataclass(frozen=True)
class Sample:
    """One message: the source that it belongs to and its value."""

    source: str
    value: dict[str, Any]


class People:
    """An endless stream of people who sign up, change and move money. Equal seeds give equal streams."""

    def __init__(self, seed: int, keys: int) -> None:
        self._random = random.Random(seed)
        self._keys = keys
        self._known: list[str] = []

    def samples(self) -> Iterator[Sample]:
        while True:
            if not self._known or (len(self._known) < self._keys and self._random.random() < 0.4):
                yield self._user(self._new_id())
            elif self._random.random() < 0.2:
                yield self._user(self._random.choice(self._known))
            else:
                yield self._account(self._random.choice(self._known))

    def _new_id(self) -> str:
        self._known.append(f"u{len(self._known) + 1:05d}")
        return self._known[-1]

    def _user(self, user_id: str) -> Sample:
        person = random.Random(user_id)
        first, last = person.choice(FIRST_NAMES), person.choice(LAST_NAMES)
        mail = f"{_plain(first)}.{_plain(last)}@{self._random.choice(MAIL_HOSTS)}"
        return Sample("users", {"userId": user_id, "name": f"{first} {last}", "email": mail, "age": person.randint(18, 90)})

    def _account(self, user_id: str) -> Sample:
        kind = self._random.choice(tuple(ACCOUNT_TYPES))
        usual, spread = ACCOUNT_TYPES[kind]
        balance = round(usual * self._random.lognormvariate(0, spread), 2)
        return Sample("accounts", {"userId": user_id, "accountType": kind, "balance": balance})


def _plain(name: str) -> str:
    """As people write their names in addresses: without accents and apostrophes."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", name.replace("ı", "i")).lower() if letter.isascii() and letter.isalpha())
