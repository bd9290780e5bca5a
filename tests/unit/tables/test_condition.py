from typing import Any

import pytest

from tablecast.errors import BadView
from tablecast.tables.condition import Slots, condition_columns, condition_test, read_condition
from tablecast.tables.group import read_grouping

SLOTS: Slots = {"name": (0, "string"), "age": (1, "int64"), "balance": (2, "double"), "vip": (3, "boolean"), "seen": (4, "timestamp")}
ANNA = ("Anna Smith", "9007199254740993", 10.5, True, "2024-01-01T00:00:00Z")
NOBODY = (None, None, None, None, None)
ODD = ("", "0", "NaN", False, "2024-01-01T00:00:00.5Z")


def matching(raw: dict[str, Any]) -> list[str]:
    test = condition_test(read_condition(raw), SLOTS)
    return [name for name, cells in (("anna", ANNA), ("nobody", NOBODY), ("odd", ODD)) if test(cells)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"op": "eq", "column": "name", "value": "Anna Smith"}, ["anna"]),
        ({"op": "eq", "column": "name", "value": "anna smith"}, []),
        ({"op": "ne", "column": "name", "value": "Anna Smith"}, ["odd"]),
        ({"op": "ge", "column": "age", "value": "9007199254740993"}, ["anna"]),
        ({"op": "gt", "column": "age", "value": "9007199254740992"}, ["anna"]),
        ({"op": "gt", "column": "age", "value": 9007199254740993}, []),
        ({"op": "lt", "column": "age", "value": "9007199254740993"}, ["odd"]),
        ({"op": "le", "column": "balance", "value": 10.5}, ["anna"]),
        ({"op": "gt", "column": "balance", "value": 1e300}, ["odd"]),
        ({"op": "eq", "column": "balance", "value": "NaN"}, ["odd"]),
        ({"op": "eq", "column": "vip", "value": True}, ["anna"]),
        ({"op": "gt", "column": "seen", "value": "2024-01-01T01:00:00+01:00"}, ["odd"]),
        ({"op": "in", "column": "age", "values": ["0", "1"]}, ["odd"]),
        ({"op": "in", "column": "age", "values": []}, []),
        ({"op": "contains", "column": "name", "value": "SMI"}, ["anna"]),
        ({"op": "starts", "column": "name", "value": "an"}, ["anna"]),
        ({"op": "ends", "column": "name", "value": "th"}, ["anna"]),
        ({"op": "contains", "column": "balance", "value": ".5"}, ["anna"]),
        ({"op": "null", "column": "name"}, ["nobody"]),
        ({"op": "not", "of": {"op": "null", "column": "name"}}, ["anna", "odd"]),
        ({"op": "and", "of": [{"op": "ge", "column": "age", "value": "0"}, {"op": "eq", "column": "vip", "value": False}]}, ["odd"]),
        ({"op": "or", "of": [{"op": "null", "column": "age"}, {"op": "eq", "column": "vip", "value": False}]}, ["nobody", "odd"]),
    ],
)
def test_a_condition_selects_rows(raw: dict[str, Any], expected: list[str]) -> None:
    assert matching(raw) == expected


def test_values_that_python_calls_equal_are_not_the_same_condition() -> None:
    """Equal conditions share a view, and `contains true` is not `contains 1`."""
    conditions = [read_condition({"op": "contains", "column": "name", "value": value}) for value in (True, 1, 1.0, "1")]
    assert len(set(conditions)) == 4


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("age > 5", "not a condition"),
        ({}, "not a condition"),
        ({"op": "like", "column": "name", "value": "x"}, "no op 'like'"),
        ({"op": "eq", "value": "x"}, "no column"),
        ({"op": "eq", "column": "name"}, "no usable value"),
        ({"op": "eq", "column": "name", "value": None}, "no usable value"),
        ({"op": "eq", "column": "name", "value": {}}, "no usable value"),
        ({"op": "in", "column": "name", "values": "x"}, "no usable values"),
        ({"op": "and", "of": []}, "no list"),
        ({"op": "and"}, "no list"),
        ({"op": "not"}, "not a condition"),
    ],
)
def test_what_is_no_condition_is_refused_with_a_reason(raw: Any, complaint: str) -> None:
    with pytest.raises(BadView, match=complaint):
        read_condition(raw)


def test_a_value_must_fit_its_column() -> None:
    with pytest.raises(BadView, match="'old' is not a value of the column 'age', which is int64"):
        matching({"op": "gt", "column": "age", "value": "old"})


def test_nesting_is_bounded() -> None:
    raw: dict[str, Any] = {"op": "null", "column": "name"}
    for _ in range(10):
        raw = {"op": "not", "of": raw}
    with pytest.raises(BadView, match="deeper than 10"):
        read_condition(raw)


def test_equal_conditions_are_equal_and_name_their_columns() -> None:
    raw = {"op": "and", "of": [{"op": "in", "column": "age", "values": ["1"]}, {"op": "null", "column": "name"}]}
    assert read_condition(raw) == read_condition(raw)
    assert hash(read_condition(raw)) == hash(read_condition(raw))
    assert condition_columns(read_condition(raw)) == {"age", "name"}


def deep(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("raw", [deep(5000), {"op": deep(5000)}, {"op": "eq", "column": "name", "value": deep(5000)}], ids=["all", "op", "value"])
def test_what_is_nested_deeper_than_can_be_told_is_refused(raw: Any) -> None:
    with pytest.raises(BadView):
        read_condition(raw)
    with pytest.raises(BadView):
        read_grouping({"by": raw})
