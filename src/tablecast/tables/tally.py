"""Aggregates of one group, kept exactly whatever comes and goes: what is left after a delete is what was there without the row."""

import math
from collections.abc import Callable
from typing import Any, Protocol

from sortedcontainers import SortedDict

from tablecast.catalog import ColumnType
from tablecast.tables.cells import NULL, KeyOf, cell_key, cell_normaliser, double_of, int64_of, tolerant
from tablecast.tables.group import Aggregate

_UNIT_BITS = 1074
"""Every finite double is a whole number of 2 to the minus 1074."""
_INT64_DIGITS = 18


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


class Extreme:
    """The least or the greatest cell, in the order of the sort: NaN is above all numbers."""

    __slots__ = ("_cells", "_end", "_form", "_key")

    def __init__(self, key: KeyOf, form: Callable[[Any], Any], end: int) -> None:
        self._key = key
        self._form = form
        self._end = end
        self._cells: SortedDict[bytes, tuple[Any, int]] = SortedDict()

    def take(self, cell: Any) -> None:
        key = self._key(cell)
        if key != NULL:
            known, count = self._cells.get(key, (cell, 0))
            self._cells[key] = (known, count + 1)

    def give_back(self, cell: Any) -> None:
        key = self._key(cell)
        if key != NULL:
            known, count = self._cells[key]
            if count == 1:
                del self._cells[key]
            else:
                self._cells[key] = (known, count - 1)

    def result(self) -> Any:
        return self._form(self._cells.peekitem(self._end)[1][0]) if self._cells else None


def tally_maker(aggregate: Aggregate, type: ColumnType | None) -> Callable[[], Tally]:
    """How a tally of this aggregate is made, where its column is of this type."""
    if aggregate.op == "count" or type is None:
        return Count
    if aggregate.op in ("min", "max"):
        key, form, end = tolerant(cell_key(type)), cell_normaliser(type), 0 if aggregate.op == "min" else -1
        return lambda: Extreme(key, form, end)
    average = aggregate.op == "avg"
    return (lambda: Integers(average)) if type == "int64" else (lambda: Doubles(average))


def comparable(cell: Any, type: ColumnType) -> Any:
    """A sum that is more than an int64 holds sorts as the nearest one that is."""
    if type != "int64" or cell is None or len(cell) <= _INT64_DIGITS:
        return cell
    return max(-(1 << 63), min(int(cell), (1 << 63) - 1))
