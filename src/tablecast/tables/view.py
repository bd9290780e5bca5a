"""How the rows of a table are looked at: sorted, filtered, searched, grouped. A view follows its table row by row and never sorts again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.tables.condition import Condition
from tablecast.tables.group import Grouping
from tablecast.tables.group_view import GroupView
from tablecast.tables.live_table import LiveTable, Row
from tablecast.tables.placing import Place, Selection, SortKey, placing
from tablecast.tables.ranking import Ranking

__all__ = ["NaturalView", "ShapedView", "SortKey", "View", "ViewSpec", "make_view"]

MAX_SORT = 3
MAX_SEARCH = 1000


@dataclass(frozen=True)
class ViewSpec:
    """A view before it is made. Equal specs of one table share one view. Filter and search select rows of the table, also for groups."""

    sort: tuple[SortKey, ...] = ()
    filter: Condition | None = None
    search: str | None = None
    group: Grouping | None = None

    def __post_init__(self) -> None:
        if len(self.sort) > MAX_SORT:
            raise BadView(f"{len(self.sort)} columns are too many to sort by", f"Sort by at most {MAX_SORT}.")
        if self.search is not None and len(self.search) > MAX_SEARCH:
            raise BadView(f"a search text of {len(self.search)} characters is too long", f"At most {MAX_SEARCH}.")

    @property
    def natural(self) -> bool:
        """Whether it is simply the table's own rows in their own order."""
        return not (self.sort or self.filter or self.search or self.group)

    @property
    def selection(self) -> Selection:
        return Selection(self.filter, self.search)


class View(Protocol):
    """Rows in an order. `changes` grows with every change; before `ready` there is nothing to show yet."""

    @property
    def columns(self) -> tuple[Column, ...]: ...

    @property
    def changes(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def ready(self) -> bool: ...

    def rows(self, start: int, stop: int) -> list[Row]: ...

    def index_of(self, id: str) -> int | None:
        """Where the row of this id stands; None when it is not in the view. To be asked once it is ready."""

    @property
    def held(self) -> int:
        """About how much there is to free."""

    def build(self, limit: int) -> bool:
        """Takes up to `limit` further rows that the table had when the view was made. Whether nothing is left to do."""

    def leave(self) -> None:
        """Stops following the table."""

    def dismantle(self) -> Iterator[None]:
        """Gives its memory back, in steps. It must not be looked at any more."""


def make_view(table: LiveTable, spec: ViewSpec) -> View:
    """Raises BadView when the table has no such column, or a value does not fit one."""
    if spec.natural:
        return NaturalView(table)
    if spec.group is not None:
        return GroupView(table, spec.group, spec.sort, spec.selection)
    return ShapedView(table, placing(spec.sort, spec.selection, table.columns))


class NaturalView:
    """The table itself: it costs nothing to make and nothing to keep."""

    ready = True

    def __init__(self, table: LiveTable) -> None:
        self.columns = table.columns
        self._table = table

    @property
    def changes(self) -> int:
        return self._table.changes

    @property
    def total(self) -> int:
        return len(self._table)

    def rows(self, start: int, stop: int) -> list[Row]:
        return self._table.rows(start, stop)

    def index_of(self, id: str) -> int | None:
        row = self._table.find(id)
        return None if row is None else self._table.index_of(row)

    @property
    def held(self) -> int:
        return 0

    def build(self, limit: int) -> bool:
        return True

    def leave(self) -> None:
        pass

    def dismantle(self) -> Iterator[None]:
        return iter(())


class ShapedView:
    """A sorted, filtered or searched view. A changed row is moved, added or removed in logarithmic time.

    It is built along the positions of the table: rows up to `_built` are in it and followed, those behind come with a later step; None when all are.
    """

    def __init__(self, table: LiveTable, place: Place) -> None:
        self.columns = table.columns
        self.changes = 0
        self.ready = len(table) == 0
        self._table = table
        self._place = place
        self._order: Ranking[Row] = Ranking()
        self._built: bytes | None = None if self.ready else b""
        table.follow(self)

    @property
    def total(self) -> int:
        return len(self._order)

    def rows(self, start: int, stop: int) -> list[Row]:
        return self._order.between(start, stop)

    def index_of(self, id: str) -> int | None:
        row = self._table.find(id)
        place = None if row is None else self._place(row.data, row.position)
        return None if place is None else self._order.index_of(place)

    @property
    def held(self) -> int:
        return len(self._order)

    def build(self, limit: int) -> bool:
        if self.ready:
            return True
        if self._built is not None:
            limit -= self._take(self._built, limit)
        if self._built is None:
            self.ready = self._order.settle(limit)
        self.changes += 1
        return self.ready

    def _take(self, built: bytes, limit: int) -> int:
        rows = self._table.after(built, limit + 1)
        taken, place = rows[:limit], self._place
        self._order.extend([(where, row) for row in taken if (where := place(row.data, row.position)) is not None])
        self._built = taken[-1].position if len(rows) > limit else None
        return min(limit, len(rows))

    def leave(self) -> None:
        self._table.unfollow(self)

    def dismantle(self) -> Iterator[None]:
        return self._order.dismantle()

    def changed(self, row: Row, before: bytes) -> None:
        if self._built is not None and row.position > self._built:
            return
        old = self._place(before, row.position) if before else None
        new = self._place(row.data, row.position) if row.data else None
        if old is None and new is None:
            return
        self.changes += 1
        if old == new:
            return
        if old is not None:
            self._order.remove(old)
        if new is not None:
            self._order.add(new, row)
