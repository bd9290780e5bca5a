"""How the rows of a table are looked at: sorted, filtered, searched. A view follows its table row by row and never sorts again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
from sortedcontainers import SortedKeyList

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.tables.cells import cell_key, cell_reader, cell_text, tolerant
from tablecast.tables.condition import Condition, condition_columns, condition_test
from tablecast.tables.live_table import LiveTable, Row

MAX_SORT = 3
MAX_SEARCH = 1000

Place = Callable[[Row], bytes | None]
"""Where a row stands in a view, as bytes that compare; None when it is not in it."""


@dataclass(frozen=True)
class SortKey:
    column: str
    descending: bool = False


@dataclass(frozen=True)
class ViewSpec:
    """A view before it is made. Equal specs of one table share one view."""

    sort: tuple[SortKey, ...] = ()
    filter: Condition | None = None
    search: str | None = None

    def __post_init__(self) -> None:
        if len(self.sort) > MAX_SORT:
            raise BadView(f"{len(self.sort)} columns are too many to sort by", f"Sort by at most {MAX_SORT}.")
        if self.search is not None and len(self.search) > MAX_SEARCH:
            raise BadView(f"a search text of {len(self.search)} characters is too long", f"At most {MAX_SEARCH}.")

    @property
    def natural(self) -> bool:
        """Whether it is simply the table's own rows in their own order."""
        return not (self.sort or self.filter or self.search)


class View(Protocol):
    """Rows in an order. `changes` grows with every change; before `ready` there is nothing to show yet."""

    @property
    def changes(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def ready(self) -> bool: ...

    def rows(self, start: int, stop: int) -> list[Row]: ...

    def build(self, limit: int) -> None:
        """Takes up to `limit` further rows that the table had when the view was made."""

    def leave(self) -> None:
        """Stops following the table."""


def make_view(table: LiveTable, spec: ViewSpec) -> View:
    """Raises BadView when the table has no such column, or a value does not fit one."""
    return NaturalView(table) if spec.natural else ShapedView(table, placing(spec, table.columns))


class NaturalView:
    """The table itself: it costs nothing to make and nothing to keep."""

    ready = True

    def __init__(self, table: LiveTable) -> None:
        self._table = table

    @property
    def changes(self) -> int:
        return self._table.changes

    @property
    def total(self) -> int:
        return len(self._table)

    def rows(self, start: int, stop: int) -> list[Row]:
        return self._table.rows(start, stop)

    def build(self, limit: int) -> None:
        pass

    def leave(self) -> None:
        pass


class ShapedView:
    """A sorted, filtered or searched view. A changed row is moved, added or removed in logarithmic time."""

    def __init__(self, table: LiveTable, place: Place) -> None:
        self.changes = 0
        self._table = table
        self._place = place
        self._places: dict[Row, bytes] = {}
        self._order = SortedKeyList(key=self._places.__getitem__)
        self._unbuilt = table.rows(0, len(table))[::-1]
        table.watch(self)

    @property
    def total(self) -> int:
        return len(self._order)

    @property
    def ready(self) -> bool:
        return not self._unbuilt

    def rows(self, start: int, stop: int) -> list[Row]:
        rows: list[Row] = self._order[start:stop]
        return rows

    def build(self, limit: int) -> None:
        for row in self._unbuilt[-limit:]:
            if row.data:
                self.put(row)
        del self._unbuilt[-limit:]

    def leave(self) -> None:
        self._table.unwatch(self)

    def put(self, row: Row) -> None:
        before, after = self._places.get(row), self._place(row)
        if before != after:
            self.drop(row)
            if after is not None:
                self._places[row] = after
                self._order.add(row)
        if before is not None or after is not None:
            self.changes += 1

    def drop(self, row: Row) -> None:
        if row in self._places:
            self._order.remove(row)
            del self._places[row]
            self.changes += 1


def placing(spec: ViewSpec, columns: Sequence[Column]) -> Place:
    """The function that places rows of these columns in this view. Raises BadView."""
    types = {column.name: column.type for column in columns}
    used = list(dict.fromkeys([key.column for key in spec.sort] + sorted(condition_columns(spec.filter) if spec.filter else ())))
    for name in used:
        if name not in types:
            raise BadView(f"there is no column {name[:100]!r}", f"Columns here: {', '.join(types)}.")
    slots = {name: (index, types[name]) for index, name in enumerate(used)}
    read = cell_reader(used)
    fulfils = condition_test(spec.filter, slots) if spec.filter else None
    found = _searcher(spec.search) if spec.search else None
    keys = [(slots[key.column][0], tolerant(cell_key(types[key.column], key.descending))) for key in spec.sort]

    def place(row: Row) -> bytes | None:
        if found is not None and not found(row.data):
            return None
        cells = read(row.data) if used else ()
        if fulfils is not None and not fulfils(cells):
            return None
        return b"".join([key(cells[slot]) for slot, key in keys]) + row.position if keys else row.position

    return place


def _searcher(text: str) -> Callable[[bytes], bool]:
    """Whether any cell of a row holds the text, whatever the case."""
    wanted = text.casefold()
    decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def found(data: bytes) -> bool:
        try:
            return any(wanted in _raw_text(bytes(cell)).casefold() for cell in decoder.decode(data).values())
        except msgspec.DecodeError:
            return False

    return found


def _raw_text(raw: bytes) -> str:
    if raw == b"null":
        return ""
    return cell_text(msgspec.json.decode(raw)) if raw.startswith(b'"') else raw.decode()
