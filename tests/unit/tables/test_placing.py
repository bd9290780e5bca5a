"""Many rows placed together stand where each of them, placed by itself, would."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Column, ColumnType
from tablecast.tables.condition import read_condition
from tablecast.tables.placing import Placed, Placing, Selection, SortKey, placing
from tablecast.tables.row import Row

usual: dict[ColumnType, st.SearchStrategy[Any]] = {
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "int64": st.integers(-(2**63), 2**63 - 1).map(str),
    "string": st.text(),
    "boolean": st.booleans(),
    "timestamp": st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
}
odd: st.SearchStrategy[Any] = st.sampled_from([None, "NaN", "-Infinity", 1, True, -0.0, 1.5, "1.5", "x", "9" * 30, [], {}])
conditions: dict[ColumnType, Any] = {"double": 0.5, "int64": "18", "string": "m", "boolean": True, "timestamp": "2026-01-01T00:00:00Z"}


def rows_of(cells: list[tuple[Any, Any]], broken: bool) -> list[Row]:
    datas = [msgspec.json.encode({"a": first, "b": second}) for first, second in cells]
    return [Row(b"position %d" % index, b"", data) for index, data in enumerate([*datas, b"{,}"] if broken else datas)]


def one_by_one(how: Placing, rows: list[Row]) -> Placed:
    return [(place, row) for row in rows if (place := how.one(row.data, row.position)) is not None]


@pytest.mark.parametrize("sorted_type", usual)
@pytest.mark.parametrize("tested_type", usual)
@pytest.mark.parametrize("descending", [False, True])
@given(data=st.data())
def test_rows_that_are_placed_together_stand_where_each_would(
    sorted_type: ColumnType, tested_type: ColumnType, descending: bool, data: st.DataObject
) -> None:
    regular = data.draw(st.booleans())
    cells = st.tuples(*(usual[type] if regular else st.one_of(usual[type], odd) for type in (sorted_type, tested_type)))
    rows = rows_of(data.draw(st.lists(cells, max_size=6)), broken=not regular and data.draw(st.booleans()))
    condition = {"op": data.draw(st.sampled_from(["ge", "lt", "ne"])), "column": "b", "value": conditions[tested_type]}
    selection = Selection(read_condition(condition) if data.draw(st.booleans()) else None)
    how = placing((SortKey("a", descending),), selection, (Column("a", sorted_type), Column("b", tested_type)))
    assert how.all(rows, [row.data for row in rows]) == one_by_one(how, rows)


def test_so_do_rows_of_several_sorts_and_of_a_search() -> None:
    rows = rows_of([("x", "1"), ("y", "2"), (None, None), ("xy", "1")], broken=True)
    columns = (Column("a", "string"), Column("b", "int64"))
    for sort, selection in (((SortKey("b"), SortKey("a", True)), Selection()), ((SortKey("a"),), Selection(search="x"))):
        how = placing(sort, selection, columns)
        assert how.all(rows, [row.data for row in rows]) == one_by_one(how, rows)
