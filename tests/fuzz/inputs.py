"""What strangers may send: valid messages with a few things wrong in them, which get further than noise does, and noise.

Each is made of one number, so that Hypothesis spends its time on what takes the inputs, and not on making them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any, TypeVar
from urllib.parse import quote

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Json = Any
T = TypeVar("T")
Place = tuple[Any, Any]
"""A list or object, and which of its members."""


def nested(depth: int) -> Json:
    return {"op": "not", "of": nested(depth - 1)} if depth else []


ODD: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 10**300),
    *(0.5, -0.0, 1e308, -1e-320, float("nan"), float("inf")),
    *("@deep@", "", " ", "a", "0", "-1", "NaN", "Infinity", "-Infinity", "1_0", "١", "null", "true", "9" * 5000, "9223372036854775808"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30", "2026-01-01T00:00:00Z", "24:00", "0000-12-31T23:00:00.000000Z"),
    *("\x00", "\n[orchestrator] ready", "\x1b]0;owned\x07", "\x9b2J", "\u2028", "\u202e", "🙂", "ﬀ", "ẞ", "İ", "a\u0301", "\ufeff", "\uffff"),
    *(
        "__proto__",
        "constructor",
        "../../etc/passwd",
        "' OR 1=1 --",
        "<img src=x onerror=alert(1)>",
        "${jndi:ldap://x}",
        "%s%n%x",
        "$(reboot)",
        "=1+1",
    ),
    *([], {}, [[]], {"": None}, [None] * 2000, {"op": "eq"}, nested(9), nested(60), "x" * 2000, ["name"] * 30),
)
SNIPPETS = (
    *(
        b"",
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"\\u0000",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
    ),
    *(b"[" * 3000, b'{"a":' * 2000, b'{"op":"not","of":' * 500, b"9" * 6000, b"1e400", b"-", b"NaN", b"0x1", b"1.", b'"type":"login",', b"/**/"),
)

NAMES = ("column", "values", "of", "locale", "key", "", "TYPE", " usersTopic ", "\u0130", "__proto__")


def made_by(make: Callable[[Random], T]) -> SearchStrategy[T]:
    """Inputs that `make` makes, a different one of each number."""
    return st.integers(0, 2**64 - 1).map(lambda number: make(Random(number)))


def mutated(random: Random, corpus: Sequence[Json]) -> bytes:
    """One of these JSON values with up to four changes, and one time in five with damaged bytes too."""
    tree = [deepcopy(random.choice(corpus))]
    for _ in range(random.randrange(5)):
        _change(random, tree, corpus)
    data = json.dumps(tree[0] if tree else None, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")
    if b"@deep@" in data:
        depth = random.randrange(100, 1100)
        data = data.replace(b'"@deep@"', b"[" * depth + b"]" * depth)
    return damaged(random, data) if random.randrange(5) == 0 else data


def damaged(random: Random, data: bytes) -> bytes:
    """These bytes with a part of them replaced, repeated or cut away."""
    start, stop = sorted((random.randrange(len(data) + 1), random.randrange(len(data) + 1)))
    if random.random() < 0.5:
        stop = min(stop, start + random.randrange(4))
    snippet = random.choice(SNIPPETS) if random.random() < 0.7 else random.randbytes(random.randrange(6))
    return data[:start] + (snippet or data[start:stop]) * random.randrange(4) + data[stop:]


def _change(random: Random, tree: list[Json], corpus: Sequence[Json]) -> None:
    places = _places(tree)
    if not places:
        return
    holder, member = random.choice(places)
    match random.randrange(6):
        case 0 | 1:
            holder[member] = deepcopy(random.choice(ODD))
        case 2:
            holder[member] = [deepcopy(random.choice(ODD)) for _ in range(random.randrange(3))]
        case 3:
            from_holder, from_member = random.choice(_places([deepcopy(random.choice(corpus))]))
            holder[member] = from_holder[from_member]
        case 4:
            del holder[member]
        case _:
            _add(random, holder, deepcopy(holder[member]))


def _add(random: Random, holder: Any, value: Json) -> None:
    if isinstance(holder, list):
        holder.append(value)
    else:
        holder[random.choice(NAMES)] = value


def _places(holder: Any) -> list[Place]:
    members = range(len(holder)) if isinstance(holder, list) else list(holder)
    places: list[Place] = []
    for member in members:
        places.append((holder, member))
        if isinstance(holder[member], list | dict) and len(holder[member]) < 100:
            places += _places(holder[member])
    return places


def query(random: Random, corpora: Mapping[str, Sequence[Json]]) -> str:
    """A query string: parameters of these names, each with a value of its corpus, mutated; sometimes with what no parameter may have."""
    names = random.choices(sorted(corpora), k=random.randrange(5))
    text = "&".join(f"{name}={quote(_value(random, corpora[name]), safe=':,{}[]')}" for name in names)
    return random.choice(("&", "?", "%", "%ff", "%00", ";a=1", "&offset=%2B1", "&%6f=1")) + text if random.randrange(10) == 0 else text


def _value(random: Random, corpus: Sequence[Json]) -> bytes:
    text = random.choice(corpus)
    if not isinstance(text, str):
        return mutated(random, corpus)
    return damaged(random, text.encode()) if random.random() < 0.5 else text.encode()
