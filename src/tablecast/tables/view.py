"""How the rows of a table are looked at: sorted, filtered, searched, grouped. A view follows its table row by row and never sorts again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.tables.condition import Condition
from tablecast.tables.group import Grouping
from tablecast.tables.group_view import MOST_GROUPS, GroupView
from tablecast.tables.intake import Intake
from tablecast.tables.live_table import LiveTable
from tablecast.tables.near_first import NearFirst
from tablecast.tables.placing import Placing, Selection, SortKey, placing
from tablecast.tables.ranking import Ranking
from tablecast.tables.row import Row

__all__ = ["NaturalView", "ShapedView", "SortKey", "View", "ViewSpec", "make_view"]

MAX_SORT = 3
MAX_SEARCH = 1000
FEW = 256


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
        """Takes up to `limit` further rows that the table had when the view was made, or does other work ahead. Whether nothing is left to do."""

    def leave(self) -> None:
        """Stops following the table."""

    def dismantle(self) -> Iterator[None]:
        """Gives its memory back, in steps. It must not be looked at any more."""


def make_view(table: LiveTable, spec: ViewSpec, most_groups: int = MOST_GROUPS) -> View:
    """Raises BadView when the table has no such column, or a value does not fit one."""
    if spec.natural:
        return NaturalView(table)
    if spec.group is not None:
        return GroupView(table, spec.group, spec.sort, spec.selection, most_groups)
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
    """A sorted, filtered or searched view. A changed row is moved, added or removed in logarithmic time, when somebody looks."""

    def __init__(self, table: LiveTable, placing: Placing) -> None:
        self.columns = table.columns
        self.ready = len(table) == 0
        self._changes = 0
        self._table = table
        self._place = placing.one
        self._place_all = placing.all
        self._order: Ranking[Row] = Ranking()
        self._near = NearFirst(self._order)
        self._intake = Intake(table, self._move)
        self._intake.eager = self.ready

    @property
    def changes(self) -> int:
        self._look()
        return self._changes

    @property
    def total(self) -> int:
        self._look()
        return len(self._near)

    def rows(self, start: int, stop: int) -> list[Row]:
        self._look()
        return self._near.between(start, stop)

    def index_of(self, id: str) -> int | None:
        self._look()
        row = self._table.find(id)
        place = None if row is None else self._place(row.data, row.position)
        return None if place is None else self._near.index_of(place)

    @property
    def held(self) -> int:
        return len(self._order)

    def build(self, limit: int) -> bool:
        """It is ready once all rows are in it. The rest of the order, where nobody looks yet, comes about by what is done afterwards."""
        if self.ready:
            return self._order.settle(limit) and self._near.tidy(limit)
        self._build(limit)
        self._changes += 1
        return self.ready

    def _build(self, limit: int) -> None:
        if not self._intake.complete:
            self._order.put_off(self._place_all(*self._intake.rows(limit)))
        # To move many rows in an order that is still mixed would put a whole leaf in order for each of them.
        if self._intake.complete and (self._intake.waiting <= FEW or self._order.settle(limit)):
            self._near.between(0, 0)
            self._intake.catch_up(limit)
            self.ready = self._intake.eager = not self._intake.waits

    def leave(self) -> None:
        self._intake.leave()

    def dismantle(self) -> Iterator[None]:
        return self._order.dismantle()

    def _look(self) -> None:
        if self.ready and self._intake.waits:
            self._intake.catch_up()

    def _move(self, changed: dict[Row, bytes]) -> None:
        place = self._place
        gone: list[bytes] = []
        come: list[tuple[bytes, Row]] = []
        for row, before in changed.items():
            old = place(before, row.position) if before else None
            new = place(row.data, row.position) if row.data else None
            if old is new is None:
                continue
            self._changes += 1
            if old != new:
                if old is not None:
                    gone.append(old)
                if new is not None:
                    come.append((new, row))
        self._near.change(gone, come)
