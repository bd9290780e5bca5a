"""A view that follows row by row equals one that is made of the final rows."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.tables.condition import read_condition
from tablecast.tables.group import Grouping
from tablecast.tables.live_table import LiveTable
from tablecast.tables.view import ShapedView, SortKey, View, ViewSpec, make_view

COLUMNS = (Column("name", "string"), Column("age", "int64"), Column("balance", "double"))


def table_of(*rows: dict[str, Any]) -> LiveTable:
    table = LiveTable("people", COLUMNS)
    for index, row in enumerate(rows):
        table.upsert(b"%d" % index, msgspec.json.encode(row), b"1:0:%d" % index)
    return table


def built(table: LiveTable, spec: ViewSpec) -> View:
    view = make_view(table, spec)
    while not view.ready:
        view.build(1000)
    return view


def ids(view: View) -> list[str]:
    return [row.id for row in view.rows(0, view.total)]


def test_sorts_by_up_to_three_columns_with_nulls_last() -> None:
    table = table_of(
        {"name": "b", "age": "10", "balance": 1},
        {"name": "a", "age": "9", "balance": "NaN"},
        {"name": "b", "age": None, "balance": 2.5},
        {"name": None, "age": "10", "balance": None},
        {"name": "b", "age": "9", "balance": 1},
    )
    assert ids(built(table, ViewSpec((SortKey("age"),)))) == ["1", "4", "0", "3", "2"]
    assert ids(built(table, ViewSpec((SortKey("age", True),)))) == ["0", "3", "1", "4", "2"]
    assert ids(built(table, ViewSpec((SortKey("balance", True),)))) == ["2", "0", "4", "1", "3"]
    assert ids(built(table, ViewSpec((SortKey("name", True), SortKey("balance"), SortKey("age"))))) == ["4", "0", "2", "1", "3"]


def test_searches_all_text_whatever_the_case() -> None:
    table = table_of({"name": "Zoë 🎈", "age": "41", "balance": 2.5}, {"name": 'a "quote" 41', "age": None, "balance": 41.5}, {"name": "Plain"})
    assert ids(built(table, ViewSpec(search="zOË"))) == ["0"]
    assert ids(built(table, ViewSpec(search="41"))) == ["1"]
    assert ids(built(table, ViewSpec(search='"q'))) == ["1"]
    assert ids(built(table, ViewSpec(search="PLA"))) == ["2"]
    assert ids(built(table, ViewSpec(search="null"))) == []
    assert ids(built(table, ViewSpec(search="name"))) == []


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (ViewSpec((SortKey("x"),)), "no column 'x'"),
        (ViewSpec(filter=read_condition({"op": "null", "column": "x"})), "no column 'x'"),
        (ViewSpec(filter=read_condition({"op": "eq", "column": "age", "value": "x"})), "not a value"),
    ],
)
def test_a_view_that_does_not_fit_the_table_is_refused(spec: ViewSpec, complaint: str) -> None:
    with pytest.raises(BadView, match=complaint):
        make_view(table_of(), spec)


def test_a_spec_that_is_too_big_is_refused() -> None:
    with pytest.raises(BadView, match="4 columns"):
        ViewSpec(tuple(SortKey(name) for name in "abcd"))
    with pytest.raises(BadView, match="1001 characters"):
        ViewSpec(search="x" * 1001)


def test_a_view_is_built_in_steps_while_the_table_changes() -> None:
    table = table_of(*({"name": str(n), "age": str(n)} for n in range(10)))
    view = make_view(table, ViewSpec((SortKey("age", True),)))
    view.build(4)
    assert not view.ready
    table.delete(b"7", None)
    table.upsert(b"8", b'{"age":"-1"}', b"1:0:9", b"1:0:8")
    table.upsert(b"20", b'{"age":"20"}', b"1:0:20")
    while not view.ready:
        view.build(4)
    assert ids(view) == ["20", "9", "6", "5", "4", "3", "2", "1", "0", "8"]


def test_a_view_that_is_ready_does_not_change_by_being_built_again() -> None:
    """Else whoever moves a window would make all others look for what is new."""
    table = table_of({"name": "a", "age": "1"})
    for spec in (ViewSpec(), ViewSpec((SortKey("age"),)), ViewSpec(group=Grouping(("name",), ()))):
        view = built(table, spec)
        before = view.changes
        assert view.build(5)
        assert view.changes == before


def test_a_row_whose_content_is_odd_does_not_hurt() -> None:
    table = table_of({"age": "1"}, {"age": {"deep": 1}}, {"age": True})
    table.upsert(b"broken", b"{oops}", b"1:0:50")
    assert ids(built(table, ViewSpec((SortKey("age"),)))) == ["0", "1", "2", "broken"]
    assert ids(built(table, ViewSpec(search="oops"))) == []


def test_a_search_looks_in_every_string_column_and_in_no_other() -> None:
    columns = (Column("name", "string"), Column("n", "int64"), Column("street", "string"), Column("city", "string"))
    table = LiveTable("people", columns)
    rows = (("Köln", "7", None, "x"), ("x", "8", "Am Kölner Tor", "x"), ("x", "9", "x", "KÖLN"), ("x", "10", "x", "x"), ("y", "11", "x", "Bonn 10"))
    for id, cells in enumerate(rows):
        names = [column.name for column in columns]
        table.upsert(b"%d" % id, msgspec.json.encode(dict(zip(names, cells, strict=True))), b"1:0:%d" % id)
    assert ids(built(table, ViewSpec(search="köln"))) == ["0", "1", "2"]
    assert ids(built(table, ViewSpec(search="bonn"))) == ["4"]
    assert ids(built(table, ViewSpec(search="10"))) == ["4"]
    assert ids(built(table, ViewSpec((SortKey("n", True),), search="köln"))) == ["2", "1", "0"]


def test_a_view_that_nobody_looks_at_stops_following() -> None:
    table = table_of({"age": "1"})
    view = built(table, ViewSpec((SortKey("age"),)))
    view.leave()
    table.upsert(b"x", b'{"age":"2"}', b"1:0:9")
    assert view.total == 1


cells = st.one_of(st.none(), st.integers(-3, 3).map(str))
steps = st.lists(st.tuples(st.integers(0, 7), st.one_of(st.none(), st.fixed_dictionaries({"name": st.sampled_from(["a", "b", None]), "age": cells}))))
specs = st.builds(
    ViewSpec,
    st.lists(st.builds(SortKey, st.sampled_from(["name", "age"]), st.booleans()), max_size=2).map(tuple),
    st.sampled_from([None, read_condition({"op": "ge", "column": "age", "value": "0"})]),
    st.sampled_from([None, "a"]),
)


@given(steps, specs)
def test_following_equals_making_anew(changes: list[tuple[int, dict[str, Any] | None]], spec: ViewSpec) -> None:
    table = LiveTable("people", COLUMNS)
    view = make_view(table, spec)
    for number, (id, row) in enumerate(changes):
        if row is None:
            table.delete(b"%d" % id, None)
        else:
            table.upsert(b"%d" % id, msgspec.json.encode(row), b"1:0:%d" % number, b"1:0:%d" % (id % 3))
    assert ids(view) == ids(built(table, spec))
    if isinstance(view, ShapedView) and spec.sort == (SortKey("age"),) and not spec.filter and not spec.search:
        ages = [msgspec.json.decode(row.data)["age"] for row in view.rows(0, view.total)]
        known = [int(age) for age in ages if age is not None]
        assert ages == [*map(str, sorted(known)), *[None] * (len(ages) - len(known))]
