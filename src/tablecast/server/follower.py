"""What becomes of records: statuses of generations, and the tables of one generation."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import Protocol, cast, get_args

import msgspec
from confluent_kafka import Message

from tablecast.catalog import Bound, Column, ColumnType
from tablecast.errors import BadView, ViewerError, ViewFailed
from tablecast.kafka.changelog import ORDER_HEADER, VERSION_HEADER
from tablecast.kafka.status import (
    PULSE_KEY,
    GenerationStatus,
    Pulse,
    ServerStatus,
    TableStatus,
    decode_pulse,
    decode_server,
    decode_status,
    is_generation,
)
from tablecast.server.reader import Reading
from tablecast.tables.generation import Generation, SharedViews
from tablecast.tables.group_view import MOST_GROUPS
from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Changes
from tablecast.tables.view import ViewSpec

log = logging.getLogger(__name__)

Post = Callable[[Callable[[], None]], None]
"""Runs a function on the event loop, soon and in order; called from any thread."""
ChangesOfTopics = dict[str, Changes]

LANDING = 100
"""Records that are applied on the event loop at a time: with many open views a thousand would hold it up for a quarter of a second."""
IN_FLIGHT = 2
"""So often they wait for the event loop at most; then the reader waits too."""
STEP = 300
YIELD_SECONDS = 0.001
"""While viewers look at another generation, a fill makes a pause after every STEP records, so that the loop finds the interpreter free."""
BUILD_ROWS = 300
"""Rows of a view that are taken in before the reader reads on."""

_TYPES: frozenset[str] = frozenset(get_args(ColumnType))


class StatusFollower:
    """Keeps what the status topic says of each generation. `changed` is called on the loop once all is read, and then at each change."""

    def __init__(
        self,
        post: Post,
        changed: Callable[["StatusFollower"], None],
        lost: Callable[["StatusFollower", str], None],
        transitions: Counter[str] | None = None,
    ) -> None:
        """`transitions` counts the states that generations come to while we listen."""
        self.generations: dict[bytes, GenerationStatus] = {}
        self.missing: tuple[str, ...] = ()
        self.pulse: Pulse | None = None
        """The last one that came while we listened; what stood on the topic before says nothing about now."""
        self.heard = 0.0
        """When that was, by time.monotonic()."""
        self._post = post
        self._changed = changed
        self._lost = lost
        self._transitions = transitions if transitions is not None else Counter[str]()
        self._caught_up = False
        self._read = False

    def records(self, messages: list[Message]) -> None:
        records = [(message.key() or b"", message.value()) for message in messages]
        self._post(lambda: self._apply(records))

    def turn(self, reading: Reading) -> bool:
        if not (self._read or reading.behind):
            self._read = True
            self._post(self._finish)
        return False

    def waits(self, missing: Sequence[str]) -> None:
        self.missing = tuple(missing)

    def lost(self, reason: str) -> None:
        self._post(lambda: self._lost(self, reason))

    def _apply(self, records: Sequence[tuple[bytes, bytes | None]]) -> None:
        for key, value in records:
            if key == PULSE_KEY:
                self._hear(value)
            elif value is None:
                self.generations.pop(key, None)
            elif is_generation(key):
                self._take(key, value)
        if self._caught_up:
            self._changed(self)

    def _take(self, key: bytes, value: bytes) -> None:
        known = self.generations.get(key)
        try:
            now = self.generations[key] = decode_status(value)
        except msgspec.DecodeError as error:
            told = {"event": "rejected", "key": repr(key), "reason": str(error)}
            log.warning("[server] a status record of %r is not readable and is skipped: %s", key, error, extra=told)
            return
        if self._caught_up and (known is None or known.state != now.state):
            self._transitions[now.state] += 1

    def _hear(self, value: bytes | None) -> None:
        if self._caught_up and value is not None:
            with suppress(msgspec.DecodeError):
                self.pulse, self.heard = decode_pulse(value), time.monotonic()

    def _finish(self) -> None:
        self._caught_up = True
        self.missing = ()
        self._changed(self)


class ServersFollower:
    """Keeps what each server says of itself. Trouble is nobody's concern: the next sign of life tells it again."""

    def __init__(self) -> None:
        self.servers: dict[bytes, ServerStatus] = {}

    def records(self, messages: list[Message]) -> None:
        for message in messages:
            key, value = message.key() or b"", message.value()
            if value is None:
                self.servers.pop(key, None)
            else:
                with suppress(msgspec.DecodeError):
                    self.servers[key] = decode_server(value)

    def turn(self, reading: Reading) -> bool:
        return False

    def waits(self, missing: Sequence[str]) -> None:
        pass

    def lost(self, reason: str) -> None:
        self.servers.clear()


class FillEvents(Protocol):
    """What the feed does about a generation, on the loop."""

    def filled(self, follower: "GenerationFollower") -> None: ...

    def waits(self, follower: "GenerationFollower") -> None: ...

    def lost(self, follower: "GenerationFollower", reason: str) -> None: ...

    def applied(self, records: int) -> None: ...


class GenerationFollower:
    """Fills the tables of one generation in the reader's thread, where nobody else sees them, until its status says live, all that this status asks
    for has been read, and the views that viewers have open are built. Then it hands the tables over to the loop, and applies later changes there:
    they are posted behind the handing over, so that none is missed."""

    def __init__(
        self,
        status: GenerationStatus,
        post: Post,
        wanted: Callable[[], Mapping[str, Set[ViewSpec]]],
        events: FillEvents,
        beside: bool = False,
        most_groups: int = MOST_GROUPS,
    ) -> None:
        """`beside`: viewers look at another generation meanwhile."""
        self.status = status
        """The newest one; replaced by the feed, from the loop."""
        tables = [_table(name, table) for name, table in status.tables.items()]
        self.generation = Generation(status.generation, tables, status.aliases, most_groups)
        self.filled = False
        self.rejected = 0
        self.read = 0
        """Records that were read before it was handed over."""
        self.missing: tuple[str, ...] = ()
        self._tables = {table.changelog: self.generation.views[name].table for name, table in status.tables.items()}
        self._post = post
        self._wanted = wanted
        self._events = events
        self._pause = YIELD_SECONDS if beside else 0.0
        self._flight = threading.Semaphore(IN_FLIGHT)
        self._abandoned = False
        self._failed: frozenset[ViewSpec] = frozenset()
        """Views that cannot be built."""

    def abandon(self) -> None:
        """Whatever still comes is dropped."""
        self._abandoned = True

    def records(self, messages: list[Message]) -> None:
        if not self.filled:
            self._take_in(messages)
            return
        for start in range(0, len(messages), LANDING):
            if self._abandoned:
                return
            landing = messages[start : start + LANDING]
            changes = _changes(landing)
            while not self._flight.acquire(timeout=0.1):
                if self._abandoned:
                    return
            self._post(partial(self._land, changes, len(landing)))

    def turn(self, reading: Reading) -> bool:
        """Views are built as soon as the end was reached once: most of a fill then goes into them as it comes, and little is left for the end."""
        if self.filled or self._abandoned or reading.behind:
            return False
        if not self._views_are_built():
            return True
        status = self.status
        if status.state == "live" and self._has_read(status.ends, reading):
            self._hand_over()
        return False

    def waits(self, missing: Sequence[str]) -> None:
        self.missing = tuple(missing)
        self._post(lambda: self._events.waits(self))

    def lost(self, reason: str) -> None:
        self._post(lambda: self._events.lost(self, reason))

    def _land(self, changes: ChangesOfTopics, records: int) -> None:
        self._flight.release()
        if not self._abandoned:
            self._apply(changes)
            self._events.applied(records)

    def _apply(self, changes: ChangesOfTopics) -> None:
        for topic, of_topic in changes.items():
            self._tables[topic].take(of_topic, partial(self._reject, topic))

    def _reject(self, topic: str, key: bytes, error: ValueError) -> None:
        self.rejected += 1
        if self.rejected == 1:
            told = {"event": "rejected", "topic": topic, "key": repr(key), "reason": str(error)}
            log.warning("[server] a record of %s with the key %r is not of the changelog's format and is skipped: %s", topic, key, error, extra=told)

    def _take_in(self, messages: list[Message]) -> None:
        step = STEP if self._pause else len(messages)
        for start in range(0, len(messages), step):
            if self._abandoned:
                return
            part = messages[start : start + step]
            self._apply(_changes(part))
            self.read += len(part)
            if self._pause:
                time.sleep(self._pause)

    def _has_read(self, ends: Mapping[str, int], reading: Reading) -> bool:
        """Where a server begins late, what was there is far more than these ends; that it has been read is known already."""
        return all(reading.position(topic) >= ends[topic] for topic in self._tables if topic in ends)

    def _views_are_built(self) -> bool:
        """Goes on building what viewers have open in the generation before, so that the flip has nothing left to build."""
        built = True
        for name, specs in self._wanted().items():
            if name not in self.generation.views:
                continue
            views = self.generation.views[name]
            views.keep_only(specs)
            for spec in specs - self._failed:
                built = self._built_on(views, spec) and built
        if not built and self._pause:
            time.sleep(self._pause)
        return built

    def _built_on(self, views: SharedViews, spec: ViewSpec) -> bool:
        """Whether there is nothing left to build of this view. One that cannot be built holds up nothing: who looks at it is told at the flip."""
        try:
            return views.prepare(spec).build(BUILD_ROWS)
        except BadView:
            return True
        except Exception as error:
            if not isinstance(error, ViewerError):
                log.exception("[server] a view of %s cannot be built", views.table.name, extra={"event": "crash", "table": views.table.name})
            self._failed |= {spec}
            views.break_off(spec, ViewFailed(views.table.name))
            return True

    def _hand_over(self) -> None:
        now = time.time_ns() // 1_000_000
        for table in self.generation.tables():
            while table.trim(now):
                pass
            table.filling = False
        self.filled = True
        self._post(lambda: self._events.filled(self))


def _table(name: str, status: TableStatus) -> LiveTable:
    columns = [Column(column.name, _column_type(column.type)) for column in status.columns]
    return LiveTable(name, columns, Bound(status.max_rows, status.max_seconds))


def _column_type(text: str) -> ColumnType:
    """A type that a newer pipeline may have is text to us."""
    return text if text in _TYPES else "string"  # type: ignore[return-value]


def _changes(messages: Iterable[Message]) -> ChangesOfTopics:
    by_topic: dict[str, list[Message]] = {}
    for message in messages:
        by_topic.setdefault(message.topic() or "", []).append(message)
    return {topic: _columns(of_topic) for topic, of_topic in by_topic.items()}


def _columns(messages: Sequence[Message]) -> Changes:
    versions, orders = _versions_and_orders(messages)
    return Changes([message.key() or b"" for message in messages], [message.value() for message in messages], versions, orders)


def _versions_and_orders(messages: Sequence[Message]) -> tuple[Sequence[bytes | None], Sequence[bytes | None]]:
    told = [cast(Sequence[tuple[str, bytes]], message.headers() or ()) for message in messages]
    with suppress(ValueError):
        # Most have nothing but a version, which is quicker to see for all than for each.
        versions = [value for [(name, value)] in told if name == VERSION_HEADER]
        if len(versions) == len(told):
            return versions, [None] * len(told)
    headers = [dict(each) for each in told]
    return [header.get(VERSION_HEADER) for header in headers], [header.get(ORDER_HEADER) for header in headers]
