"""A window of a view over time: what it holds now, and what changed since a viewer last saw it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from tablecast.tables.row import Row
from tablecast.tables.window import Window

_serials = count(1)


class Viewable(Protocol):
    """What a viewport needs of a view. `changes` grows whenever `total` or a row may have changed."""

    @property
    def changes(self) -> int: ...

    @property
    def total(self) -> int: ...

    def rows(self, start: int, stop: int) -> list[Row]: ...


@dataclass
class Difference:
    """What brings a viewer from one snapshot to a later one. `ids` is None when the order is the same.

    `body` is room for the encoded form, so that viewers who saw the same share one encoding.
    """

    total: int
    offset: int
    ids: Sequence[str] | None
    rows: Sequence[tuple[str, bytes]]
    body: bytes | None = None


class Snapshot:
    """A window at one moment. Never changes, and is shared by all who look through the same viewport."""

    def __init__(self, total: int, offset: int, rows: list[Row]) -> None:
        self.serial = next(_serials)
        self.total = total
        self.offset = offset
        self.rows = rows
        self.data = [row.data for row in rows]
        self._since: dict[int, Difference | None] = {}

    def since(self, previous: "Snapshot | None") -> Difference | None:
        """The difference from `previous` (None: from nothing, so everything), or None when there is none."""
        serial = previous.serial if previous is not None else 0
        if serial not in self._since:
            self._since[serial] = self._everything() if previous is None else self._compared(previous)
        return self._since[serial]

    def _everything(self) -> Difference:
        ids = [row.id for row in self.rows]
        return Difference(self.total, self.offset, ids, list(zip(ids, self.data, strict=True)))

    def _compared(self, previous: "Snapshot") -> Difference | None:
        if previous.rows == self.rows:
            known: Sequence[bytes | None] = previous.data
            ids = None
        else:
            seen = dict(zip(previous.rows, previous.data, strict=True))
            known = [seen.get(row) for row in self.rows]
            ids = [row.id for row in self.rows]
        pairs = zip(self.rows, self.data, known, strict=True)
        changed = [(row.id, data) for row, data, old in pairs if data is not old and data != old]
        if ids is None and not changed and (previous.total, previous.offset) == (self.total, self.offset):
            return None
        return Difference(self.total, self.offset, ids, changed)


class Viewport:
    """A window of a view. Takes a new snapshot only when the view has changed."""

    def __init__(self, view: Viewable, window: Window) -> None:
        self.view = view
        self.window = window
        self._changes = -1
        self._snapshot = Snapshot(0, 0, [])

    def snapshot(self) -> Snapshot:
        if self._changes != self.view.changes:
            self._changes = self.view.changes
            self._snapshot = self._taken()
        return self._snapshot

    def _taken(self) -> Snapshot:
        total = self.view.total
        start = self.window.start(total)
        return Snapshot(total, start, _within(self.view.rows(start, start + self.window.size), self.window.bytes))


def _within(rows: list[Row], limit: int) -> list[Row]:
    """The first rows, as many as are not more than `limit` bytes together, but at least one."""
    size = 0
    for index, row in enumerate(rows):
        size += len(row.data)
        if size > limit and index > 0:
            return rows[:index]
    return rows
