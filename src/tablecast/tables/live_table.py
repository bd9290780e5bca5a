"""A table in memory: rows by id and in order, kept as the bytes that Spark encoded."""

from collections.abc import Sequence
from operator import attrgetter
from struct import Struct
from typing import Protocol

import msgspec
from sortedcontainers import SortedKeyList

from tablecast.catalog import Bound, Column
from tablecast.tables.version import left_order, parse_order, supersedes

UNBOUNDED = Bound()

_ORDER = Struct(">QIQ")
_ORDER_SIZE = _ORDER.size
_TIMESTAMP_ZERO = 1 << 63
"""Kafka's timestamp may be -1, and packed orders must compare as the numbers do."""


class Row(msgspec.Struct, gc=False, eq=False):
    """One row. Its identity is the object: an update changes `version` and `data` in place, and `data` is empty once the row has left its table."""

    position: bytes
    """The packed order, then the id: rows compare by it as by (order, id)."""
    version: bytes
    data: bytes

    @property
    def id(self) -> str:
        return self.position[_ORDER_SIZE:].decode()

    @property
    def timestamp(self) -> int:
        return packed_timestamp(self.position)


class RowWatcher(Protocol):
    """Is told of each row that came or changed, and of each that left, after the table has it so."""

    def put(self, row: Row) -> None: ...

    def drop(self, row: Row) -> None: ...


class LiveTable:
    """Rows in the order (timestamp, partition, offset, id). Every server that has read the same changelog has the same rows in the same order.

    `changes` grows with every change, so that a reader sees cheaply that nothing happened.
    """

    def __init__(self, name: str, columns: Sequence[Column], bound: Bound = UNBOUNDED) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.bound = bound
        self.changes = 0
        self._rows: dict[bytes, Row] = {}
        self._order = SortedKeyList(key=attrgetter("position"))
        self._gone: dict[bytes, bytes] = {}
        self._watchers: list[RowWatcher] = []

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, start: int, stop: int) -> list[Row]:
        rows: list[Row] = self._order[start:stop]
        return rows

    def watch(self, watcher: RowWatcher) -> None:
        self._watchers.append(watcher)

    def unwatch(self, watcher: RowWatcher) -> None:
        self._watchers.remove(watcher)

    def upsert(self, key: bytes, data: bytes, version: bytes, order: bytes | None = None) -> bool:
        """Takes the row if its version supersedes the known one. Without `order` it stands at the left order of its version.

        A row with an `order` of its own stands at the earliest that was ever said of it, also by a record whose content is not taken:
        its key was first seen there. Raises ValueError, and changes nothing, when the record is not of the changelog's format.
        """
        row = self._rows.get(key)
        known = row.version if row is not None else self._gone.get(key)
        newer = known is None or supersedes(version, known)
        if not newer and (row is None or order is None):
            return False
        if not (data.startswith(b"{") and data.endswith(b"}")):
            raise ValueError(f"the value of row {key!r} is not a JSON object")
        position = pack_position(order or left_order(version), key)
        if row is not None:
            position = min(position, row.position)
            if not newer and position == row.position:
                return False
        self._put(key, row, position, (version, data) if newer or row is None else (row.version, row.data))
        return True

    def _put(self, key: bytes, row: Row | None, position: bytes, content: tuple[bytes, bytes]) -> None:
        if row is not None and row.position == position:
            row.version, row.data = content
        else:
            row = self._insert(key, Row(position, *content))
        self.changes += 1
        for watcher in self._watchers:
            watcher.put(row)
        self._trim_to_size()

    def delete(self, key: bytes, version: bytes | None) -> bool:
        """Removes the row unless it is newer than `version`; an older state of it, written again, will not bring it back."""
        row = self._rows.get(key)
        known = row.version if row is not None else self._gone.get(key)
        if version is not None and known is not None and version != known and not supersedes(version, known):
            return False
        if version is not None:
            self._gone[key] = version
        if row is not None:
            self._remove(key, row)
        return row is not None

    def trim(self, now_ms: int) -> int:
        """Removes the rows that are older than the bound allows at this time, and says how many. To be called now and then."""
        if self.bound.seconds is None:
            return 0
        horizon = now_ms - int(self.bound.seconds * 1000)
        before = len(self._rows)
        while self._rows and self._order[0].timestamp < horizon:
            self._remove_oldest()
        return before - len(self._rows)

    def dismantle(self) -> None:
        """Lets go of all rows, one by one: to free a million objects at once would hold up every other thread."""
        self._order.clear()
        for kept in (self._rows, self._gone):
            while kept:
                kept.popitem()

    def _insert(self, key: bytes, row: Row) -> Row:
        key.decode()
        if key in self._rows:
            self._remove(key, self._rows[key])
        self._gone.pop(key, None)
        self._rows[key] = row
        self._order.add(row)
        return row

    def _remove(self, key: bytes, row: Row) -> None:
        del self._rows[key]
        self._order.remove(row)
        row.data = b""
        self.changes += 1
        for watcher in self._watchers:
            watcher.drop(row)

    def _trim_to_size(self) -> None:
        while self.bound.rows is not None and len(self._rows) > self.bound.rows:
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        row = self._order[0]
        self._remove(row.position[_ORDER_SIZE:], row)


def pack_position(order: bytes, key: bytes) -> bytes:
    timestamp, partition, offset = parse_order(order)
    if not (-_TIMESTAMP_ZERO <= timestamp < _TIMESTAMP_ZERO and 0 <= partition < 1 << 31 and 0 <= offset < 1 << 63):
        raise ValueError(f"the order {order!r} is out of range")
    return _ORDER.pack(timestamp + _TIMESTAMP_ZERO, partition, offset) + key


def packed_timestamp(position: bytes) -> int:
    return int.from_bytes(position[:8], "big") - _TIMESTAMP_ZERO
