"""A table in memory: rows by id and in order, kept as the bytes that Spark encoded."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Protocol

from tablecast.catalog import Bound, Column
from tablecast.tables.ranking import Ranking
from tablecast.tables.row import BRACE, END_BRACE, ORDER_SIZE, Changes, Row, new_row, new_rows, pack_position
from tablecast.tables.version import parse_order, supersedes

UNBOUNDED = Bound()
TRIM_ROWS = 1000
_position = attrgetter("position")


class RowFollower(Protocol):
    """Is told of each row that came, changed or left, after the table has it so, and of what it held before, so that it need not keep that itself."""

    def changed(self, row: Row, before: bytes) -> None:
        """`before` is the data that it had: empty for a row that came, as the row's own data is for one that left."""


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
        self._order: Ranking[Row] = Ranking()
        self._gone: dict[bytes, bytes] = {}
        self._followers: list[RowFollower] = []
        self.filling = True
        """Whether nobody looks yet: then its order may come about by and by. To be set to False by whoever shows it."""

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, start: int, stop: int) -> list[Row]:
        return self._order.between(start, stop)

    def stretch(self, start: bytes) -> tuple[list[Row], bytes | None]:
        """The rows from the position `start` on up to another one, in any order, and that other one; None: up to the end. Costs no sorting."""
        return self._order.stretch(start)

    def find(self, id: str) -> Row | None:
        return self._rows.get(id.encode("utf-8", "surrogatepass"))

    def index_of(self, row: Row) -> int | None:
        return self._order.index_of(row.position)

    def settle(self, limit: int) -> bool:
        """Puts up to about `limit` rows in order that came while it was filled. Whether all are in order now."""
        return self._order.settle(limit)

    def follow(self, follower: RowFollower) -> None:
        self._followers.append(follower)

    def unfollow(self, follower: RowFollower) -> None:
        self._followers.remove(follower)

    def take(self, changes: Changes, reject: Callable[[bytes, ValueError], None]) -> None:
        """Takes all of them, as `upsert` and `delete` do; `reject` hears of those of another format. A bound is kept at the end."""
        if not self._take_new(changes):
            self._take_each(changes, reject)

    def _take_new(self, changes: Changes) -> bool:
        """Takes them if all are new rows, as they are while a table is filled."""
        ids = changes.ids
        if not (self._rows.keys().isdisjoint(ids) and self._gone.keys().isdisjoint(ids)) or len(set(ids)) < len(ids):
            return False
        rows = new_rows(changes)
        if rows is None:
            return False
        self._rows.update(zip(ids, rows, strict=True))
        self._place(rows)
        return True

    def _take_each(self, changes: Changes, reject: Callable[[bytes, ValueError], None]) -> None:
        fresh: list[Row] = []
        rows, unseen = self._rows, self.filling and not self._followers
        for key, data, version, order in zip(*changes, strict=True):
            try:
                row = rows.get(key)
                if row is None and unseen and data and not self._gone:
                    rows[key] = row = new_row(key, data, version or b"", order)
                    fresh.append(row)
                elif row is not None and data and version and not order:
                    self._update(row, data, version)
                else:
                    if fresh:
                        self._place(fresh)
                        fresh = []
                    self.delete(key, version) if data is None else self.upsert(key, data, version or b"", order)
            except ValueError as error:
                reject(key, error)
        if fresh:
            self._place(fresh)

    def upsert(self, key: bytes, data: bytes, version: bytes, order: bytes | None = None) -> bool:
        """Takes the row if its version supersedes the known one. Without `order` it stands at the left order of its first version.

        A row with an `order` of its own stands at the earliest that was ever said of it, also by a record whose content is not taken:
        its key was first seen there. Raises ValueError, and changes nothing, when the record is not of the changelog's format.
        """
        row = self._rows.get(key)
        if row is None:
            known = self._gone.get(key)
            if known is not None and not supersedes(version, known):
                return False
            self._insert(key, new_row(key, data, version, order))
            return True
        if not data:
            raise ValueError(f"the value of row {key!r} is empty")
        if not order or (position := pack_position(parse_order(order), key)) >= row.position:
            return self._update(row, data, version)
        if data[0] != BRACE or data[-1] != END_BRACE:
            raise ValueError(f"the value of row {key!r} is not a JSON object")
        kept = (version, data) if supersedes(version, row.version) else (row.version, row.data)
        self._remove(row)
        self._insert(key, Row(position, *kept))
        return True

    def _update(self, row: Row, data: bytes, version: bytes) -> bool:
        """In place. Raises ValueError when the record is not of the changelog's format."""
        if not supersedes(version, row.version):
            return False
        if data[0] != BRACE or data[-1] != END_BRACE:
            raise ValueError(f"the value of row {row.id!r} is not a JSON object")
        before = row.data
        row.version, row.data = version, data
        self.changes += 1
        for follower in self._followers:
            follower.changed(row, before)
        return True

    def delete(self, key: bytes, version: bytes | None) -> bool:
        """Removes the row unless it is newer than `version`; an older state of it, written again, will not bring it back."""
        row = self._rows.get(key)
        known = row.version if row is not None else self._gone.get(key)
        if version is not None and known is not None and version != known and not supersedes(version, known):
            return False
        if version is not None:
            self._gone[key] = version
        if row is not None:
            self._remove(row)
        return row is not None

    def trim(self, now_ms: int, limit: int = TRIM_ROWS) -> int:
        """Removes rows that are older than the bound allows at this time, up to `limit`, and says how many. To be called now and then, and again
        while there are as many: to remove a million at once would hold up the ticking."""
        if self.bound.seconds is None:
            return 0
        horizon = now_ms - int(self.bound.seconds * 1000)
        if not any(row.timestamp < horizon for row in self._order.between(0, 1)):
            return 0
        old = [row for row in self._order.between(0, limit) if row.timestamp < horizon]
        for row in old:
            self._remove(row)
        return len(old)

    def dismantle(self) -> Iterator[None]:
        """Lets go of all rows, in steps: to free a million objects at once would hold up every other thread."""
        yield from self._order.dismantle()
        for kept in (self._rows, self._gone):
            while kept:
                for _ in range(min(len(kept), 1000)):
                    kept.popitem()
                yield

    def _insert(self, key: bytes, row: Row) -> None:
        if self._gone:
            self._gone.pop(key, None)
        self._rows[key] = row
        self._place([row])

    def _place(self, fresh: list[Row]) -> None:
        """Puts rows that are new in order, tells of them, and removes the oldest that are too many then."""
        if self.filling and not self._followers:
            self._order.put_off(zip(map(_position, fresh), fresh, strict=True))
        else:
            self._order.add(zip(map(_position, fresh), fresh, strict=True))
        self.changes += len(fresh)
        for follower in self._followers:
            for row in fresh:
                follower.changed(row, b"")
        if self.bound.rows is not None and (excess := len(self._rows) - self.bound.rows) > 0:
            for row in self._order.between(0, excess):
                self._remove(row)

    def _remove(self, row: Row) -> None:
        del self._rows[row.position[ORDER_SIZE:]]
        self._order.remove((row.position,))
        before, row.data = row.data, b""
        self.changes += 1
        for follower in self._followers:
            follower.changed(row, before)
