"""Groups that were kept up row by row equal those that are counted anew, to the last bit."""

import math
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Column
from tablecast.errors import BadView, GroupsTooMany
from tablecast.tables.condition import read_condition
from tablecast.tables.group import Aggregate, Grouping, read_grouping
from tablecast.tables.live_table import LiveTable
from tablecast.tables.view import SortKey, View, ViewSpec, make_view

COLUMNS = (Column("kind", "string"), Column("age", "int64"), Column("balance", "double"), Column("vip", "boolean"))
ALL = Grouping(
    ("kind",),
    (
        Aggregate("count"),
        Aggregate("count", "age"),
        *(Aggregate(op, column) for column in ("age", "balance") for op in ("sum", "min", "max", "avg")),
    ),
)


def put(table: LiveTable, id: int, row: dict[str, Any] | None, version: int) -> None:
    if row is None:
        table.delete(b"%d" % id, None)
    else:
        table.upsert(b"%d" % id, msgspec.json.encode(row), b"1:0:%d" % version, b"1:0:%d" % id)


def table_of(*rows: dict[str, Any]) -> LiveTable:
    table = LiveTable("people", COLUMNS)
    for id, row in enumerate(rows):
        put(table, id, row, id)
    return table


def built(table: LiveTable, spec: ViewSpec, step: int = 1000) -> View:
    view = make_view(table, spec)
    while not view.ready:
        view.build(step)
    return view


def shown(view: View) -> list[dict[str, Any]]:
    return [msgspec.json.decode(row.data) for row in view.rows(0, view.total)]


def test_groups_have_columns_ids_and_figures_of_their_own() -> None:
    table = table_of({"kind": "b", "balance": 1.5}, {"kind": None, "balance": None}, {"kind": "b", "balance": 2}, {"kind": "a", "balance": "NaN"})
    view = built(table, ViewSpec(group=Grouping(("kind",), (Aggregate("count"), Aggregate("sum", "balance"), Aggregate("max", "balance")))))
    assert [(column.name, column.type) for column in view.columns] == [
        ("kind", "string"),
        ("count", "int64"),
        ("sum_balance", "double"),
        ("max_balance", "double"),
    ]
    assert [row.id for row in view.rows(0, 9)] == ['["a"]', '["b"]', "[null]"]
    assert shown(view) == [
        {"kind": "a", "count": "1", "sum_balance": "NaN", "max_balance": "NaN"},
        {"kind": "b", "count": "2", "sum_balance": 3.5, "max_balance": 2},
        {"kind": None, "count": "1", "sum_balance": None, "max_balance": None},
    ]


def test_equal_cells_make_one_group_whatever_came_first() -> None:
    """Else two servers would show it under two ids."""
    columns = (Column("x", "double"), Column("n", "int64"), Column("at", "timestamp"))
    rows: list[dict[str, Any]] = [
        {"x": 1, "n": "01", "at": "2026-01-01T00:00:00Z"},
        {"x": 1.0, "n": 1, "at": "2026-01-01T01:00:00.000000+01:00"},
        {"x": -0.0, "n": None, "at": "soon"},
        {"x": 0, "n": "x", "at": None},
    ]
    figures = (Aggregate("max", "n"), Aggregate("min", "at"))
    seen = []
    for order in (rows, rows[::-1]):
        table = LiveTable("t", columns)
        for id, row in enumerate(order):
            put(table, id, row, id)
        view = built(table, ViewSpec(group=Grouping(("x",), figures)))
        seen.append([(row.id, row.data) for row in view.rows(0, 9)])
    assert seen[0] == seen[1]
    assert [id for id, _ in seen[0]] == ["[0.0]", "[1.0]"]
    assert seen[0][1][1] == b'{"x":1.0,"max_n":"1","min_at":"2026-01-01T00:00:00.000000Z"}'


def test_groups_are_sorted_filtered_and_searched_like_rows() -> None:
    table = table_of(*({"kind": "abc"[n % 3], "age": str(n), "balance": float(n)} for n in range(10)))
    group = Grouping(("kind",), (Aggregate("sum", "age"),))
    by_sum = ViewSpec((SortKey("sum_age", True),), group=group)
    assert [row["kind"] for row in shown(built(table, by_sum))] == ["a", "c", "b"]
    old = ViewSpec(filter=read_condition({"op": "ge", "column": "age", "value": "8"}), group=group)
    assert shown(built(table, old)) == [{"kind": "a", "sum_age": "9"}, {"kind": "c", "sum_age": "8"}]
    assert shown(built(table, ViewSpec(search="B", group=group))) == [{"kind": "b", "sum_age": "12"}]


@pytest.mark.parametrize("id", ["", "a", "[", "[]", '["a","b"]', "[" * 5000, "9" * 5000, '["\ud800"]'])
def test_what_is_no_id_of_a_group_is_not_found(id: str) -> None:
    view = built(table_of({"kind": "a"}, {"kind": None}), ViewSpec(group=Grouping(("kind",), ())))
    assert (view.index_of('["a"]'), view.index_of("[null]"), view.index_of(id)) == (0, 1, None)


def test_a_sum_may_be_more_than_an_int64_holds_and_still_sorts() -> None:
    top = str(2**63 - 1)
    table = table_of(
        {"kind": "a", "age": top},
        {"kind": "a", "age": top},
        {"kind": "b", "age": "5"},
        {"kind": "c", "age": str(-(2**63))},
        {"kind": "c", "age": "-1"},
    )
    view = built(table, ViewSpec((SortKey("sum_age"),), group=Grouping(("kind",), (Aggregate("sum", "age"),))))
    assert [row["sum_age"] for row in shown(view)] == [str(-(2**63) - 1), "5", str(2**64 - 2)]


def test_a_group_goes_with_its_last_row_and_comes_again() -> None:
    table = table_of({"kind": "a"}, {"kind": "b"})
    view = built(table, ViewSpec(group=Grouping(("kind",), (Aggregate("count"),))))
    assert view.total == 2
    put(table, 0, None, 5)
    assert [row["kind"] for row in shown(view)] == ["b"]
    put(table, 0, {"kind": "a"}, 6)
    assert [row["kind"] for row in shown(view)] == ["a", "b"]
    view.leave()
    put(table, 7, {"kind": "z"}, 7)
    assert view.total == 2
    assert list(view.dismantle())


def test_changed_groups_are_written_a_few_at_a_time_before_anybody_looks() -> None:
    table = table_of(*({"kind": str(n)} for n in range(10)))
    view = built(table, ViewSpec(group=Grouping(("kind",), (Aggregate("count"),))))
    for n in range(10):
        put(table, n, {"kind": "x"}, 20 + n)
    steps = 1
    while not view.build(4):
        steps += 1
    assert (steps > 2, view.ready, view.held) == (True, True, 1)
    assert shown(view) == [{"kind": "x", "count": "10"}]


def test_a_view_of_more_groups_than_there_may_be_is_broken_off() -> None:
    table = table_of(*({"kind": str(n)} for n in range(5)))
    spec = ViewSpec(group=Grouping(("kind",), (Aggregate("max", "age"),)))
    view = make_view(table, spec, most_groups=4)
    assert [view.build(2), view.build(2)] == [False, False]
    with pytest.raises(GroupsTooMany, match="more than 4 groups"):
        view.build(2)
    view.leave()
    view = make_view(table, spec, most_groups=5)
    while not view.ready:
        view.build(2)
    for n in range(5):
        put(table, n, {"kind": f"other {n}"}, 10 + n)
    assert view.total == 5
    put(table, 5, {"kind": "one more"}, 20)
    for _ in range(2):
        with pytest.raises(GroupsTooMany):
            assert view.total


def test_an_odd_cell_counts_as_none() -> None:
    table = table_of(
        {"kind": "a", "age": "x", "balance": True}, {"kind": "a", "age": {"deep": 1}, "balance": "much"}, {"kind": "a", "age": "1", "balance": 1}
    )
    [row] = shown(built(table, ViewSpec(group=ALL)))
    assert (row["count"], row["sum_age"], row["min_age"], row["avg_balance"], row["max_balance"]) == ("3", "1", "1", 1.0, 1)


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("kind", "is not a group"),
        ({"by": []}, "no list of columns"),
        ({"by": ["a", "b", "c", "d"]}, "no list of columns"),
        ({"by": ["kind"], "aggregates": {}}, "no list of at most"),
        ({"by": ["kind"], "aggregates": [{"op": "median", "column": "age"}]}, "not an aggregate"),
        ({"by": ["kind"], "aggregates": [{"op": "sum"}]}, "has no column"),
        ({"by": ["kind"], "aggregates": [{"op": "count"}, {"op": "count"}]}, "are called 'count'"),
        ({"by": ["nobody"]}, "no column 'nobody'"),
        ({"by": ["kind"], "aggregates": [{"op": "sum", "column": "kind"}]}, "has no sum"),
        ({"by": ["kind"], "aggregates": [{"op": "min", "column": "x"}]}, "no column 'x'"),
    ],
)
def test_what_cannot_be_grouped_is_refused_with_a_reason(raw: Any, complaint: str) -> None:
    with pytest.raises(BadView, match=complaint):
        make_view(table_of(), ViewSpec(group=read_grouping(raw)))


def test_groups_sort_only_by_their_own_columns() -> None:
    with pytest.raises(BadView, match="no column 'balance'"):
        make_view(table_of(), ViewSpec((SortKey("balance"),), group=Grouping(("kind",), ())))


doubles = st.one_of(st.none(), st.floats(), st.sampled_from([0.1, 0.2, 1e308, -1e308, 5e-324]))
rows = st.fixed_dictionaries(
    {"kind": st.sampled_from(["a", "b", None]), "age": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1).map(str)), "balance": doubles}
)
steps = st.lists(st.tuples(st.integers(0, 5), st.one_of(st.none(), rows)), max_size=25)


def cell(number: float | None) -> Any:
    if number is None or math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def total(numbers: list[float], count: int = 1) -> float:
    if any(map(math.isnan, numbers)) or {math.inf, -math.inf} <= set(numbers):
        return math.nan
    if endless := [number for number in numbers if math.isinf(number)]:
        return endless[0]
    exact = sum(map(Fraction, numbers), Fraction()) / count
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def expected(content: list[dict[str, Any]]) -> dict[str, Any]:
    ages = [int(row["age"]) for row in content if row["age"] is not None]
    balances = [row["balance"] for row in content if row["balance"] is not None]
    order = sorted(balances, key=lambda number: (math.isnan(number), number))
    return {
        "count": str(len(content)),
        "count_age": str(len(ages)),
        "sum_age": str(sum(ages)) if ages else None,
        "min_age": str(min(ages)) if ages else None,
        "max_age": str(max(ages)) if ages else None,
        "avg_age": sum(ages) / len(ages) if ages else None,
        "sum_balance": cell(total(balances)) if balances else None,
        "min_balance": cell(order[0]) if balances else None,
        "max_balance": cell(order[-1]) if balances else None,
        "avg_balance": cell(total(balances, len(balances))) if balances else None,
    }


@given(steps, st.integers(0, 25), st.integers(1, 4))
def test_following_equals_counting_anew(changes: list[tuple[int, dict[str, Any] | None]], before: int, step: int) -> None:
    """The view is made after some changes, built a little between the others, and looked at now and then."""
    table, model = LiveTable("people", COLUMNS), dict[int, dict[str, Any]]()
    view: View | None = None
    for number, (id, row) in enumerate(changes):
        put(table, id, None if row is None else row | {"balance": cell(row["balance"])}, number)
        model.pop(id, None)
        if row is not None:
            model[id] = row
        if number >= before:
            view = view or make_view(table, ViewSpec(group=ALL))
            view.build(step)
            if view.ready:
                assert view.total == len({row["kind"] for row in model.values()})
    view = view or make_view(table, ViewSpec(group=ALL))
    while not view.ready:
        view.build(step)
    kinds = sorted({row["kind"] for row in model.values()}, key=lambda kind: (kind is None, kind))
    assert shown(view) == [{"kind": kind} | expected([row for row in model.values() if row["kind"] == kind]) for kind in kinds]
