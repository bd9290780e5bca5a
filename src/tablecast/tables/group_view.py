"""A view of groups: one row for each value of some columns, with figures of the rows that have it. Kept up row by row, like any view."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tablecast.catalog import Column
from tablecast.errors import GroupsTooMany
from tablecast.tables.cells import UNREADABLE, Cells, cell_key, cell_normaliser, tolerant
from tablecast.tables.group import Grouping
from tablecast.tables.intake import Intake
from tablecast.tables.live_table import LiveTable
from tablecast.tables.placing import Selection, SortKey, ranking_by, selecting, slots_of
from tablecast.tables.ranking import Ranking
from tablecast.tables.row import Row, row_of
from tablecast.tables.tally import Tally, comparable, tally_maker

MOST_GROUPS = 100_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Any]).decode


class Group(msgspec.Struct, eq=False):
    """A group while it has rows. `place` and `row` are what viewers see of it, None before they see it."""

    key: bytes
    cells: Cells
    tallies: list[Tally]
    size: int = 0
    place: bytes | None = None
    row: Row | None = None


class GroupView:
    """What changes is only tallied; a group's row is written anew when somebody looks, however often the group has changed until then."""

    def __init__(self, table: LiveTable, grouping: Grouping, sort: Sequence[SortKey], selection: Selection, most: int = MOST_GROUPS) -> None:
        """Raises BadView. Later, wherever it takes in rows, it raises GroupsTooMany once there are more than `most` groups, and is of no use then."""
        slots = slots_of([*grouping.used(), *selection.columns()], table.columns)
        types = {name: type for name, (_, type) in slots.items()}
        results = [aggregate.result(types.get(aggregate.column or "")) for aggregate in grouping.aggregates]
        self.columns = (*(Column(name, types[name]) for name in grouping.by), *results)
        self.ready = len(table) == 0
        self._changes = 0
        self._most = most
        self._names = [column.name for column in self.columns]
        self._types = [column.type for column in self.columns]
        self._select = selecting(selection, slots, table.columns)
        self._keys = [(slots[name][0], tolerant(cell_key(types[name]))) for name in grouping.by]
        self._forms = [cell_normaliser(types[name]) for name in grouping.by]
        slots_of([key.column for key in sort], self.columns)
        self._rank = ranking_by(sort, slots_of(self._names, self.columns))
        self._sources = [None if aggregate.column is None else slots[aggregate.column][0] for aggregate in grouping.aggregates]
        self._tallies: list[Callable[[], Tally]] = [tally_maker(aggregate, types.get(aggregate.column or "")) for aggregate in grouping.aggregates]
        self._groups: dict[bytes, Group] = {}
        self._stale: set[Group] = set()
        self._order: Ranking[Row] = Ranking()
        self._intake = Intake(table, self._tally)
        self._intake.eager = self.ready

    @property
    def changes(self) -> int:
        self._look()
        return self._changes

    @property
    def total(self) -> int:
        self._settle()
        return len(self._order)

    def rows(self, start: int, stop: int) -> list[Row]:
        self._settle()
        return self._order.between(start, stop)

    def index_of(self, id: str) -> int | None:
        self._settle()
        group = self._groups.get(self._key_of(id))
        return None if group is None or group.place is None else self._order.index_of(group.place)

    def _key_of(self, id: str) -> bytes:
        """The key of the group that has this id; of nothing when it is none."""
        try:
            cells = _decode(id.encode("utf-8", "surrogatepass"))
        except UNREADABLE:
            return b""
        return b"".join([key(cell) for (_, key), cell in zip(self._keys, cells, strict=True)]) if len(cells) == len(self._keys) else b""

    @property
    def held(self) -> int:
        return len(self._groups)

    def build(self, limit: int) -> bool:
        """Once it is ready, writes rows of groups that have changed, so that less is left for when somebody looks."""
        if not self._intake.complete:
            for data in self._intake.rows(limit)[1]:
                self._count(data, 1)
            self._check()
        if not self._intake.complete:
            return False
        self._intake.catch_up(limit)
        self._write_groups(limit)
        done = not (self._stale or self._intake.waits)
        if not self.ready:
            self.ready = self._intake.eager = done
            self._changes += 1
        return done

    def leave(self) -> None:
        self._intake.leave()

    def dismantle(self) -> Iterator[None]:
        self._stale.clear()
        yield from self._order.dismantle()
        while self._groups:
            self._groups.popitem()
            yield

    def _look(self) -> None:
        if self.ready and self._intake.waits:
            self._intake.catch_up()

    def _tally(self, changed: dict[Row, bytes]) -> None:
        for row, before in changed.items():
            if before:
                self._count(before, -1)
            if row.data:
                self._count(row.data, 1)
        self._check()

    def _check(self) -> None:
        """Groups without rows do not count: they go when their rows are written."""
        if len(self._groups) > self._most and len(self._groups) - sum(group.size == 0 for group in self._stale) > self._most:
            raise GroupsTooMany(self._most)

    def _count(self, data: bytes, sign: int) -> None:
        cells = self._select(data)
        if cells is None:
            return
        self._changes += 1
        key = b"".join([key(cells[slot]) for slot, key in self._keys])
        group = self._groups.get(key)
        if group is None:
            own = tuple(form(cells[slot]) for (slot, _), form in zip(self._keys, self._forms, strict=True))
            group = self._groups[key] = Group(key, own, [make() for make in self._tallies])
        group.size += sign
        for tally, source in zip(group.tallies, self._sources, strict=True):
            cell = True if source is None else cells[source]
            if sign > 0:
                tally.take(cell)
            else:
                tally.give_back(cell)
        self._stale.add(group)

    def _settle(self) -> None:
        self._look()
        self._write_groups()

    def _write_groups(self, limit: int | None = None) -> None:
        """Writes the rows of the groups that have changed."""
        for _ in range(len(self._stale) if limit is None else min(limit, len(self._stale))):
            group = self._stale.pop()
            if group.size > 0:
                self._write(group)
            else:
                self._move(group, None)
                del self._groups[group.key]

    def _write(self, group: Group) -> None:
        cells = (*group.cells, *(tally.result() for tally in group.tallies))
        data = _encode(dict(zip(self._names, cells, strict=True)))
        if group.row is None:
            group.row = row_of(_encode(group.cells), data)
        else:
            group.row.data = data
        self._move(group, self._rank(tuple(map(comparable, cells, self._types))) + group.key)

    def _move(self, group: Group, place: bytes | None) -> None:
        if place == group.place:
            return
        if group.place is not None:
            self._order.remove((group.place,))
        if place is not None and group.row is not None:
            self._order.add(((place, group.row),))
        group.place = place
