"""Where a row stands in a view: bytes that compare, made of the cells that the view uses and the row's own position."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeGuard

from tablecast.catalog import Column, ColumnType
from tablecast.errors import BadView
from tablecast.tables.cells import NULL, UNREADABLE, Cells, KeyOf, KeysOf, cell_decoder, cell_key, cell_keys, cell_reader, tolerant
from tablecast.tables.condition import CellTest, CellTests, Condition, Leaf, Slots, Test, cell_test, cell_tests, condition_columns, condition_test
from tablecast.tables.row import Row

Place = Callable[[bytes, bytes], bytes | None]
"""From a row's data and its position to its place; None when it is not in the view."""
Placed = list[tuple[bytes, Row]]
PlaceAll = Callable[[Sequence[Row], Sequence[bytes]], Placed]
"""From many rows, with what is to be taken for their data, to those that are in the view, with their places."""
Rank = Callable[[Cells], bytes]


@dataclass(frozen=True)
class Placing:
    """Where rows stand: one that changes, or many while a view is built, which is quicker together."""

    one: Place
    all: PlaceAll


@dataclass(frozen=True)
class SortKey:
    """`locale` is a language tag, for text in the order of a language instead of code points."""

    column: str
    descending: bool = False
    locale: str | None = None


@dataclass(frozen=True)
class Selection:
    """Which rows of a table a view is made of."""

    filter: Condition | None = None
    search: str | None = None

    def columns(self) -> list[str]:
        return sorted(condition_columns(self.filter)) if self.filter else []


Selected = Callable[[bytes], Cells | None]
"""From a row's data to the cells that a view uses, if the row is selected."""


def slots_of(names: Sequence[str], columns: Sequence[Column]) -> dict[str, tuple[int, ColumnType]]:
    """Each name once, with its index and type. Raises BadView for a column that is not there."""
    types = {column.name: column.type for column in columns}
    for name in names:
        if name not in types:
            raise BadView(f"there is no column {name[:100]!r}", f"Columns here: {', '.join(types)}.")
    return {name: (index, types[name]) for index, name in enumerate(dict.fromkeys(names))}


def selecting(selection: Selection, slots: Slots, columns: Sequence[Column]) -> Selected:
    """Raises BadView for a value that does not fit its column."""
    read = cell_reader(list(slots)) if slots else _no_cells
    fulfils = _filter(selection, slots)
    found = _searcher(selection.search, [column.name for column in columns if column.type == "string"]) if selection.search else None
    if fulfils is None and found is None:
        return read

    def select(data: bytes) -> Cells | None:
        if found is not None and not found(data):
            return None
        cells = read(data)
        return cells if fulfils is None or fulfils(cells) else None

    return select


def ranking_by(sort: Sequence[SortKey], slots: Slots) -> Rank:
    """The function from cells to bytes that compare as the sort says. Raises BadView for a locale that cannot be had."""
    strict = [(slots[key.column][0], cell_key(slots[key.column][1], key.descending, key.locale)) for key in sort]
    careful = [(slot, tolerant(key)) for slot, key in strict]

    if len(strict) == 1:
        return _rank_by_one(*strict[0])

    def rank(cells: Cells) -> bytes:
        try:
            return b"".join([key(cells[slot]) for slot, key in strict])
        except (ValueError, TypeError, AttributeError):
            return b"".join([key(cells[slot]) for slot, key in careful])

    return rank


def _rank_by_one(slot: int, key: KeyOf) -> Rank:
    def rank(cells: Cells) -> bytes:
        try:
            return key(cells[slot])
        except (ValueError, TypeError, AttributeError):
            return NULL

    return rank


def placing(sort: Sequence[SortKey], selection: Selection, columns: Sequence[Column]) -> Placing:
    """How rows of these columns are placed. Raises BadView."""
    slots = slots_of([key.column for key in sort] + selection.columns(), columns)
    if len(sort) == 1 and selection.search is None and _is_simple(selection.filter, sort[0].column):
        [key] = sort
        type = slots[key.column][1]
        decode = cell_decoder(list(slots))
        tested = None if selection.filter is None else (selection.filter, slots[selection.filter.column][1])
        one = _place_by_one(decode, cell_key(type, key.descending, key.locale), None if tested is None else cell_test(*tested))
        keys = cell_keys(type, key.descending, key.locale)
        return Placing(one, _place_all_by_one(decode, keys, None if tested is None else cell_tests(*tested), _one_by_one(one)))
    rank, select = ranking_by(sort, slots), selecting(selection, slots, columns)

    def place(data: bytes, position: bytes) -> bytes | None:
        cells = select(data)
        return None if cells is None else rank(cells) + position

    return Placing(place, _one_by_one(place))


def _one_by_one(place: Place) -> PlaceAll:
    def place_all(rows: Sequence[Row], datas: Sequence[bytes]) -> Placed:
        return [(where, row) for row, data in zip(rows, datas, strict=True) if (where := place(data, row.position)) is not None]

    return place_all


def _is_simple(condition: Condition | None, sorted_by: str) -> TypeGuard[Leaf | None]:
    """Whether it looks at nothing or at one column other than this."""
    return condition is None or (isinstance(condition, Leaf) and condition.column != sorted_by)


def _place_by_one(decode: Callable[[bytes], Any], key: KeyOf, passes: CellTest | None) -> Place:
    """The usual one, all in one step: it runs twice for every change of a row. The first cell is sorted by, the second is tested."""

    def place(data: bytes, position: bytes) -> bytes | None:
        try:
            cells = decode(data)
            if passes is not None and not passes(cells.c1):
                return None
            return key(cells.c0) + position
        except UNREADABLE:
            return None if passes is not None and not passes(None) else NULL + position
        except (ValueError, TypeError, AttributeError):
            return NULL + position

    return place


def _place_all_by_one(decode: Callable[[bytes], Any], keys: KeysOf, passes: CellTests | None, carefully: PlaceAll) -> PlaceAll:
    """As `_place_by_one`, column by column. Where any of the rows is not as rows usually are, each is placed by itself."""

    def place_all(rows: Sequence[Row], datas: Sequence[bytes]) -> Placed:
        try:
            cells: Iterable[Any] = list(map(decode, datas))
            selected: Iterable[Row] = rows
            if passes is not None:
                chosen = list(passes([each.c1 for each in cells]))
                selected, cells = compress(rows, chosen), compress(cells, chosen)
            return [(key + row.position, row) for key, row in zip(keys([each.c0 for each in cells]), selected, strict=True)]
        except (*UNREADABLE, ValueError, TypeError, AttributeError):
            return carefully(rows, datas)

    return place_all


def _filter(selection: Selection, slots: Slots) -> Test | None:
    return None if selection.filter is None else condition_test(selection.filter, slots)


def _no_cells(data: bytes) -> Cells:
    return ()


def _searcher(text: str, columns: Sequence[str]) -> Callable[[bytes], bool]:
    """Whether any of these cells of a row holds the text, whatever the case."""
    wanted = text.casefold()
    plain = wanted.encode() if wanted.isascii() and not set(wanted) & {'"', "\\"} else None
    read = cell_reader(columns)

    def found(data: bytes) -> bool:
        # Most rows do not hold the text, and of plain ones that can be seen without decoding them.
        if plain is not None and data.isascii() and b"\\" not in data and plain not in data.lower():
            return False
        return any(isinstance(cell, str) and wanted in cell.casefold() for cell in read(data))

    return found
