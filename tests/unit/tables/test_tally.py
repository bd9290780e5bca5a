"""The least and the greatest of what is there, however many different cells come and go."""

import sys
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import ColumnType
from tablecast.tables.group import Aggregate
from tablecast.tables.tally import Extreme, Tally, tally_maker


def extremes(type: ColumnType = "int64") -> list[Tally]:
    return [tally_maker(Aggregate(op, "n"), type)() for op in ("min", "max")]


@given(st.lists(st.tuples(st.booleans(), st.one_of(st.none(), st.integers(-30, 30))), max_size=200))
def test_extremes_are_those_of_what_is_there(steps: list[tuple[bool, int | None]]) -> None:
    tallies, there = extremes(), Counter[int | None]()
    for comes, number in steps:
        if not comes and not there[number]:
            continue
        there[number] += 1 if comes else -1
        for tally in tallies:
            (tally.take if comes else tally.give_back)(None if number is None else str(number))
        numbers = [number for number, count in there.items() if count and number is not None]
        expected = [str(min(numbers)), str(max(numbers))] if numbers else [None, None]
        assert [tally.result() for tally in tallies] == expected


def test_cells_that_are_equal_are_one_and_nan_is_above_all_numbers() -> None:
    least, greatest = extremes("double")
    for cell in (1, 1.0, "NaN", -0.0, None, "x"):
        least.take(cell)
        greatest.take(cell)
    assert (least.result(), greatest.result()) == (0.0, "NaN")
    for cell in ("NaN", 1.0, 0):
        least.give_back(cell)
        greatest.give_back(cell)
    assert (least.result(), greatest.result()) == (1.0, 1.0)


def test_a_single_cell_takes_little_room() -> None:
    """A view may have millions of these: one for each group and aggregate."""
    [tally, _] = extremes()
    assert isinstance(tally, Extreme)
    tally.take("5")
    tally.take("5")
    own = [getattr(tally, slot) for slot in Extreme.__slots__]
    assert sys.getsizeof(tally) + sum(map(sys.getsizeof, (part for part in own if isinstance(part, dict | bytes)))) < 200
