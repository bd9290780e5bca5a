"""A control message: what it asks for, or why it is refused. Pure: nothing here looks at Kafka."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, cast

import msgspec

from tablecast.catalog import Catalog, Join, JoinTable
from tablecast.kafka.control import DRY_RUN_FIELD, topic_field

JOINS = ("left", "inner")
JOIN_FIELD = "joinType"
SHOWN = 80
MOST_IGNORED = 20
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Request:
    """Source to topic for every source, and how the tables of control.joins are joined."""

    topics: Mapping[str, str]
    join: Literal["left", "inner"] = "left"
    ignored: tuple[str, ...] = field(default=(), compare=False)
    """Fields that mean nothing to us, as far as they are told."""
    dry_run: bool = False
    """It only asks what would become of it."""


@dataclass(frozen=True)
class Rejection:
    """Why a message is refused: what is wrong, what it was, what is expected."""

    reason: str


def parse(value: bytes | None, sources: Sequence[str]) -> Request | Rejection:
    """Never raises, whatever the bytes are."""
    given = _object(value)
    if isinstance(given, Rejection):
        return given
    fields = {name.strip().lower(): (name, got) for name, got in given.items()}
    topics = {source: _topic(topic_field(source), fields) for source in sources}
    join, dry_run = _join(fields), _dry_run(fields)
    problems = [found.reason for found in (*topics.values(), join, dry_run) if isinstance(found, Rejection)]
    if not problems:
        problems = _twice({source: str(topic) for source, topic in topics.items()})
    if problems:
        return Rejection("; ".join(problems))
    known = {topic_field(source).lower() for source in sources} | {JOIN_FIELD.lower(), DRY_RUN_FIELD.lower()}
    ignored = tuple(islice((name[:SHOWN] for key, (name, _) in fields.items() if key not in known), MOST_IGNORED))
    return Request({source: str(topic) for source, topic in topics.items()}, cast("Literal['left', 'inner']", join), ignored, dry_run is True)


def asked_for(catalog: Catalog, request: Request, joins: Sequence[str]) -> Catalog:
    """The catalogue over the topics of the request, with its join where `joins` says so."""
    return overlaid(catalog, request.topics, dict.fromkeys(joins, request.join))


def overlaid(catalog: Catalog, topics: Mapping[str, str], joins: Mapping[str, str]) -> Catalog:
    """The catalogue with other topics and joins, as far as it has these sources and joined tables."""
    sources = {name: replace(source, topic=topics.get(name, source.topic)) for name, source in catalog.sources.items()}
    tables = {
        name: replace(table, join=cast("Join", joins[name]))
        if isinstance(table, JoinTable) and table.join in JOINS and joins.get(name) in JOINS
        else table
        for name, table in catalog.tables.items()
    }
    return replace(catalog, sources=sources, tables=tables)


def joins_of(catalog: Catalog, names: Sequence[str]) -> dict[str, str]:
    """How those tables are joined that a control message may change."""
    found = {name: catalog.tables.get(name) for name in names}
    return {name: table.join for name, table in found.items() if isinstance(table, JoinTable)}


def _object(value: bytes | None) -> dict[str, Any] | Rejection:
    if not value:
        return Rejection("the message is empty, expected a JSON object")
    try:
        decoded = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Rejection(f"the message is not JSON ({error}), expected an object")
    if not isinstance(decoded, dict):
        return Rejection(f"the message is {_shown(decoded)}, expected an object")
    return decoded


def _topic(name: str, fields: Mapping[str, tuple[str, Any]]) -> str | Rejection:
    _, got = fields.get(name.lower(), (name, None))
    if got is None:
        return Rejection(f"{name} is missing, expected the name of a topic")
    if not isinstance(got, str):
        return Rejection(f"{name} is {_shown(got)}, expected the name of a topic")
    topic = got.strip()
    if not topic:
        return Rejection(f"{name} is blank, expected the name of a topic")
    if not TOPIC.fullmatch(topic) or topic in (".", ".."):
        return Rejection(f"{name} is {_shown(topic)}, expected a name as Kafka allows: letters, digits, '.', '_' and '-', at most 249")
    return topic


def _join(fields: Mapping[str, tuple[str, Any]]) -> str | Rejection:
    _, got = fields.get(JOIN_FIELD.lower(), (JOIN_FIELD, None))
    if got is None or (isinstance(got, str) and not got.strip()):
        return "left"
    join = got.strip().lower() if isinstance(got, str) else None
    return join if join in JOINS else Rejection(f"{JOIN_FIELD} is {_shown(got)}, expected left or inner")


def _dry_run(fields: Mapping[str, tuple[str, Any]]) -> bool | Rejection:
    """In doubt it is refused: a dry run that was misread would swap the tables."""
    _, got = fields.get(DRY_RUN_FIELD.lower(), (DRY_RUN_FIELD, None))
    if isinstance(got, str):
        got = {"true": True, "false": False, "": None}.get(got.strip().lower(), got)
    return bool(got) if got is None or isinstance(got, bool) else Rejection(f"{DRY_RUN_FIELD} is {_shown(got)}, expected true or false")


def _twice(topics: Mapping[str, str]) -> list[str]:
    """A topic cannot be two sources: its records would be rows of both."""
    names = list(topics)
    return [
        f"{topic_field(name)} and {topic_field(other)} are both {topics[name]!r}, expected two topics"
        for index, name in enumerate(names)
        for other in names[index + 1 :]
        if topics[name] == topics[other]
    ]


def _shown(value: object) -> str:
    try:
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode(errors="replace")
    except RecursionError:
        text = "nested deep"
    cut = text[:SHOWN] + ("…" if len(text) > SHOWN else "")
    return repr(cut) if isinstance(value, str) else cut
