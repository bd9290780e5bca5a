"""The structured filter: read from JSON, checked against columns, and made into a test of cells.

{"op": "eq" | "ne" | "lt" | "le" | "gt" | "ge", "column", "value"}     compares as the sort does; a null cell never matches
{"op": "in", "column", "values"}                                        equals one of them
{"op": "contains" | "starts" | "ends", "column", "value"}               text, whatever the case
{"op": "null", "column"}                                                the cell is null
{"op": "and" | "or", "of": [...]}, {"op": "not", "of": {...}}
A value is written as a cell of its column is: an int64 as digits in a string, a timestamp as ISO 8601.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tablecast.catalog import ColumnType
from tablecast.errors import BadView
from tablecast.tables.cells import Cells, KeyOf, cell_key, cell_text, int64_of, tolerant

Test = Callable[[Cells], bool]
CellTest = Callable[[Any], bool]
CellTests = Callable[[Sequence[Any]], Iterable[bool]]
Slots = Mapping[str, tuple[int, ColumnType]]
"""Where a column stands in the decoded cells, and its type."""

T = TypeVar("T")

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_TEXT: dict[str, Callable[[str, str], bool]] = {"contains": operator.contains, "starts": str.startswith, "ends": str.endswith}
_ALL_OPS = (*_COMPARE, *_TEXT, "in", "null", "and", "or", "not")
_HINT = f"A filter is an object with an op of {', '.join(_ALL_OPS)}, and what that op needs: column and value, values, or of."
_MAX_DEPTH = 10
_MAX_VALUES = 1000

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Leaf:
    """A condition on one column. `values` holds one value, none for `null`, any number for `in`."""

    op: str
    column: str
    values: tuple[Scalar, ...]
    kinds: tuple[type, ...] = field(init=False, repr=False)
    """True and 1 and 1.0 are equal to Python, but not the same condition, and equal conditions share a view."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(map(type, self.values)))


@dataclass(frozen=True)
class Branch:
    """`and`, `or`, or `not` (with one part)."""

    op: str
    parts: tuple["Condition", ...]


Condition = Leaf | Branch


def read_condition(raw: object, depth: int = 1) -> Condition:
    """The condition that this JSON value says. Raises BadView."""
    if not isinstance(raw, dict) or not isinstance(raw.get("op"), str):
        raise BadView(f"{shown(raw)} is not a condition", _HINT)
    if depth > _MAX_DEPTH:
        raise BadView(f"the filter is nested deeper than {_MAX_DEPTH}", "Write it flatter.")
    op = raw["op"]
    if op in ("and", "or", "not"):
        return _read_branch(op, raw.get("of"), depth)
    if op not in _ALL_OPS:
        raise BadView(f"there is no op {shown(op)}", _HINT)
    column = raw.get("column")
    if not isinstance(column, str):
        raise BadView(f"the op {op!r} has no column", _HINT)
    return Leaf(op, column, _read_values(op, raw))


def condition_columns(condition: Condition) -> set[str]:
    if isinstance(condition, Leaf):
        return {condition.column}
    return set().union(*(condition_columns(part) for part in condition.parts))


def condition_test(condition: Condition, slots: Slots) -> Test:
    """A function that says whether a row's cells fulfil the condition. Raises BadView for a value that does not fit its column."""
    if isinstance(condition, Leaf):
        return _leaf_test(condition, *slots[condition.column])
    tests = [condition_test(part, slots) for part in condition.parts]
    return _BRANCHES[condition.op](tests)


def _all(tests: list[Test]) -> Test:
    def test(cells: Cells) -> bool:
        for part in tests:  # noqa: SIM110 - a generator would cost more than most tests
            if not part(cells):
                return False
        return True

    return test


def _any(tests: list[Test]) -> Test:
    def test(cells: Cells) -> bool:
        for part in tests:  # noqa: SIM110
            if part(cells):
                return True
        return False

    return test


def _not(tests: list[Test]) -> Test:
    [part] = tests
    return lambda cells: not part(cells)


_BRANCHES: dict[str, Callable[[list[Test]], Test]] = {"and": _all, "or": _any, "not": _not}


def _read_branch(op: str, of: object, depth: int) -> Branch:
    parts = [of] if op == "not" else of
    if not isinstance(parts, list) or not 1 <= len(parts) <= _MAX_VALUES:
        raise BadView(f"the op {op!r} has no list 'of' of 1 to {_MAX_VALUES} conditions", _HINT)
    return Branch(op, tuple(read_condition(part, depth + 1) for part in parts))


def _read_values(op: str, raw: dict[str, Any]) -> tuple[Scalar, ...]:
    if op == "null":
        return ()
    values = raw.get("values") if op == "in" else [raw.get("value")]
    if not isinstance(values, list) or len(values) > _MAX_VALUES or not all(isinstance(value, Scalar) for value in values):
        raise BadView(f"the op {op!r} has no usable {'values' if op == 'in' else 'value'}", f"{_HINT} For null use the op null.")
    return tuple(values)


def cell_test(leaf: Leaf, type: ColumnType) -> CellTest:
    """A function that says whether a cell of a column of this type fulfils the condition. Raises BadView for a value that does not fit."""
    if leaf.op == "null":
        return lambda cell: cell is None
    if leaf.op in _TEXT:
        return _text_test(_TEXT[leaf.op], cell_text(leaf.values[0]).casefold())
    if type == "int64" and leaf.op in _COMPARE:
        return _integer_test(_COMPARE[leaf.op], _read(int64_of, leaf.column, type, leaf.values[0]))
    strict = cell_key(type)
    wanted = [_read(strict, leaf.column, type, value) for value in leaf.values]
    if leaf.op == "in":
        key, allowed = tolerant(strict), frozenset(wanted)
        return lambda cell: key(cell) in allowed
    return _compare_test(_COMPARE[leaf.op], strict, wanted[0])


def cell_tests(leaf: Leaf, type: ColumnType) -> CellTests:
    """As `cell_test`, for many cells at once."""
    test = cell_test(leaf, type)
    if type == "int64" and leaf.op in _COMPARE:
        return _integer_tests(_COMPARE[leaf.op], _read(int64_of, leaf.column, type, leaf.values[0]), test)
    return lambda cells: map(test, cells)


def _leaf_test(leaf: Leaf, slot: int, type: ColumnType) -> Test:
    test = cell_test(leaf, type)
    return lambda cells: test(cells[slot])


def _text_test(matches: Callable[[str, str], bool], wanted: str) -> CellTest:
    return lambda cell: cell is not None and matches(cell_text(cell).casefold(), wanted)


def _compare_test(compare: Callable[[Any, Any], bool], key: KeyOf, wanted: bytes) -> CellTest:
    def test(cell: Any) -> bool:
        if cell is None:
            return False
        try:
            return compare(key(cell), wanted)
        except (ValueError, TypeError, AttributeError):
            return False

    return test


def _integer_test(compare: Callable[[Any, Any], bool], wanted: int) -> CellTest:
    def test(cell: Any) -> bool:
        try:
            return compare(int(cell) if type(cell) is str else int64_of(cell), wanted)
        except (ValueError, TypeError):
            return False

    return test


def _integer_tests(compare: Callable[[Any, Any], bool], wanted: int, test: CellTest) -> CellTests:
    def tests(cells: Sequence[Any]) -> Iterable[bool]:
        if set(map(type, cells)) == {str}:
            try:
                return [compare(int(cell), wanted) for cell in cells]
            except ValueError:
                pass
        return map(test, cells)

    return tests


def _read(read: Callable[[Any], T], column: str, type: ColumnType, value: Scalar) -> T:
    try:
        return read(value)
    except (ValueError, TypeError, AttributeError):
        raise BadView(f"{shown(value)} is not a value of the column {column!r}, which is {type}", _HINT) from None


def shown(value: object) -> str:
    """The beginning of what was asked for, whatever it is."""
    try:
        return repr(value)[:60]
    except RecursionError:
        return "something nested deep"
