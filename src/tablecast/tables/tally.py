"""Aggregates of one group, kept exactly whatever comes and goes: what is left after a delete is what was there without the row."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sortedcontainers import SortedDict

from tablecast.catalog import ColumnType
from tablecast.tables.cells import NULL, KeyOf, cell_key, cell_normaliser, double_of, int64_of, tolerant
from tablecast.tables.group import Aggregate

_UNIT_BITS = 1074
"""Every finite double is a whole number of 2 to the minus 1074."""
_INT64_DIGITS = 18
_FEW = 16
"""To look through so many cells takes no longer than to keep them in order."""


class Tally(Protocol):
    """`cell` is as it is in JSON; what was taken is given back at most once."""

    def take(self, cell: Any) -> None: ...

    def give_back(self, cell: Any) -> None: ...

    def result(self) -> Any:
        """As a cell is in JSON; None when nothing counts."""


class Count:
    """Cells that are not null; a row itself is counted as a cell that never is."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def take(self, cell: Any) -> None:
        self._count += cell is not None

    def give_back(self, cell: Any) -> None:
        self._count -= cell is not None

    def result(self) -> str:
        return str(self._count)


class Integers:
    """The exact sum of int64 cells, which may be more than an int64 holds, or their average."""

    __slots__ = ("_average", "_count", "_total")

    def __init__(self, average: bool) -> None:
        self._average = average
        self._count = 0
        self._total = 0

    def take(self, cell: Any) -> None:
        self._move(cell, 1)

    def give_back(self, cell: Any) -> None:
        self._move(cell, -1)

    def _move(self, cell: Any, sign: int) -> None:
        try:
            number = int64_of(cell)
        except (ValueError, TypeError):
            return
        self._count += sign
        self._total += sign * number

    def result(self) -> str | float | None:
        if self._count == 0:
            return None
        return self._total / self._count if self._average else str(self._total)


class Doubles:
    """The sum of double cells, or their average, rounded once from the exact one: no order of coming and going changes it."""

    __slots__ = ("_average", "_count", "_minus_infinities", "_nans", "_plus_infinities", "_units")

    def __init__(self, average: bool) -> None:
        self._average = average
        self._count = 0
        self._units = 0
        self._nans = self._plus_infinities = self._minus_infinities = 0

    def take(self, cell: Any) -> None:
        self._move(cell, 1)

    def give_back(self, cell: Any) -> None:
        self._move(cell, -1)

    def _move(self, cell: Any, sign: int) -> None:
        try:
            number = double_of(cell)
        except (ValueError, TypeError):
            return
        self._count += sign
        if math.isfinite(number):
            mantissa, exponent = math.frexp(number)
            shift = exponent - 53 + _UNIT_BITS
            whole = int(mantissa * (1 << 53))
            self._units += sign * (whole << shift if shift >= 0 else whole >> -shift)
        elif math.isnan(number):
            self._nans += sign
        elif number > 0:
            self._plus_infinities += sign
        else:
            self._minus_infinities += sign

    def result(self) -> float | str | None:
        if self._count == 0:
            return None
        if self._nans or (self._plus_infinities and self._minus_infinities):
            return "NaN"
        if self._plus_infinities or self._minus_infinities:
            return "Infinity" if self._plus_infinities else "-Infinity"
        try:
            return self._units / ((self._count if self._average else 1) << _UNIT_BITS)
        except OverflowError:
            return "Infinity" if self._units > 0 else "-Infinity"


Counted = dict[bytes, tuple[Any, int]] | SortedDict[bytes, tuple[Any, int]]


@dataclass(frozen=True, slots=True)
class Order:
    """What all tallies of one aggregate have in common: how cells are compared, the form of the one that is told, and from which end it is taken."""

    key: KeyOf
    form: Callable[[Any], Any]
    end: Literal[0, -1]


class Extreme:
    """The least or the greatest cell, in the order of the sort: NaN is above all numbers.

    A view may have a hundred thousand groups with twenty of these each, so what most of them hold is small: one cell, or a few in a plain dict.
    """

    __slots__ = ("_cell", "_cells", "_count", "_only", "_order")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._only = NULL
        """The key of the only cell; NULL while there is none, or more of them."""
        self._cell: Any = None
        self._count = 0
        """How often there is the only cell."""
        self._cells: Counted | None = None
        """By key, from the second cell on until there is none: the cell, and how often."""

    def take(self, cell: Any) -> None:
        key = self._order.key(cell)
        if key == NULL:
            return
        if self._cells is not None:
            self._add(self._cells, key, cell)
        elif key == self._only:
            self._count += 1
        elif self._only == NULL:
            self._only, self._cell, self._count = key, cell, 1
        else:
            self._cells = {self._only: (self._cell, self._count), key: (cell, 1)}
            self._only, self._cell, self._count = NULL, None, 0

    def _add(self, cells: Counted, key: bytes, cell: Any) -> None:
        known, count = cells.get(key, (cell, 0))
        cells[key] = (known, count + 1)
        if len(cells) > _FEW and not isinstance(cells, SortedDict):
            self._cells = SortedDict(cells)

    def give_back(self, cell: Any) -> None:
        key = self._order.key(cell)
        if key == NULL:
            return
        if self._cells is None:
            self._count -= 1
            if self._count == 0:
                self._only, self._cell = NULL, None
            return
        known, count = self._cells[key]
        if count > 1:
            self._cells[key] = (known, count - 1)
            return
        del self._cells[key]
        if not self._cells:
            self._cells = None

    def result(self) -> Any:
        cells, end = self._cells, self._order.end
        if cells is None:
            return None if self._only == NULL else self._order.form(self._cell)
        if isinstance(cells, SortedDict):
            return self._order.form(cells.peekitem(end)[1][0])
        return self._order.form(cells[min(cells) if end == 0 else max(cells)][0])


def tally_maker(aggregate: Aggregate, type: ColumnType | None) -> Callable[[], Tally]:
    """How a tally of this aggregate is made, where its column is of this type."""
    if aggregate.op == "count" or type is None:
        return Count
    if aggregate.op in ("min", "max"):
        order = Order(tolerant(cell_key(type)), cell_normaliser(type), 0 if aggregate.op == "min" else -1)
        return lambda: Extreme(order)
    average = aggregate.op == "avg"
    return (lambda: Integers(average)) if type == "int64" else (lambda: Doubles(average))


def comparable(cell: Any, type: ColumnType) -> Any:
    """A sum that is more than an int64 holds sorts as the nearest one that is."""
    if type != "int64" or cell is None or len(cell) <= _INT64_DIGITS:
        return cell
    return max(-(1 << 63), min(int(cell), (1 << 63) - 1))
