import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Column, ColumnType
from tablecast.tables.cells import cell_key, cell_normaliser, cell_reader, cell_text, tolerant
from tablecast.tables.placing import Selection, SortKey, placing

SORTED: dict[ColumnType, list[Any]] = {
    "string": ["", "\x00", "\x00a", "A", "a", "a\x00", "a\x01", "ab", "b", "zoë", "ü", "日本", "🎈"],
    "int64": ["-9223372036854775808", "-10", "-9", "0", "9", "10", "9007199254740993", "9007199254740994", "9223372036854775807"],
    "double": ["-Infinity", -1e300, -1.5, -1, -5e-324, 0, 5e-324, 1, 1.5, 1e300, "Infinity", "NaN"],
    "boolean": [False, True],
    "timestamp": [
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z",
        "2024-01-01T00:00:00.123456Z",
        "2024-01-01T00:00:01Z",
        "2024-01-01T02:00:00+00:00",
    ],
}


@pytest.mark.parametrize("type", SORTED)
def test_keys_compare_as_cells_do_with_null_last_in_both_directions(type: ColumnType) -> None:
    cells = SORTED[type]
    up, down = cell_key(type), cell_key(type, descending=True)
    assert sorted([*reversed(cells), None], key=up) == [*cells, None]
    values, nans = [cell for cell in cells if cell != "NaN"], [cell for cell in cells if cell == "NaN"]
    assert sorted([None, *cells], key=down) == [*reversed(values), *nans, None]


@pytest.mark.parametrize("type", SORTED)
@pytest.mark.parametrize("descending", [False, True])
def test_no_key_is_the_beginning_of_another(type: ColumnType, descending: bool) -> None:
    """Else the keys of a second column could change the order of the first."""
    keys = [cell_key(type, descending)(cell) for cell in [*SORTED[type], None]]
    assert not [(one, other) for one in keys for other in keys if one != other and other.startswith(one)]


def test_zero_has_no_sign() -> None:
    assert cell_key("double")(-0.0) == cell_key("double")(0.0)


@given(st.lists(st.text(), max_size=8), st.booleans())
def test_texts_sort_by_code_points(texts: list[str], descending: bool) -> None:
    assert sorted(texts, key=cell_key("string", descending)) == sorted(texts, reverse=descending)


@given(st.lists(st.floats(allow_nan=False), max_size=8), st.booleans())
def test_doubles_sort_by_value(numbers: list[float], descending: bool) -> None:
    assert sorted(numbers, key=cell_key("double", descending)) == sorted(numbers, reverse=descending)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8), st.booleans())
def test_integers_sort_exactly(numbers: list[int], descending: bool) -> None:
    key = cell_key("int64", descending)
    assert sorted(map(str, numbers), key=key) == list(map(str, sorted(numbers, reverse=descending)))


@pytest.mark.parametrize(
    ("type", "cell"),
    [
        *(("int64", cell) for cell in ("x", 2**63, True, 1.5)),
        *(("double", cell) for cell in ("x", True, 10**400)),
        *(("timestamp", cell) for cell in ("yesterday", 5)),
        ("boolean", "true"),
        ("string", 5),
    ],
)
def test_what_is_no_cell_of_the_type_is_refused_or_counts_as_null(type: ColumnType, cell: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)):
        cell_key(type)(cell)
    assert tolerant(cell_key(type))(cell) == cell_key(type)(None)


def test_only_the_used_columns_are_decoded() -> None:
    read = cell_reader(["class", "b"])
    assert read(b'{"a":{"deep":[1]},"b":"2","class":1.5}') == (1.5, "2")
    assert read(b'{"a":1}') == (None, None)
    assert read(b"{broken}") == (None, None)


@pytest.mark.parametrize("type", SORTED)
def test_cells_with_one_key_have_one_form_with_that_key(type: ColumnType) -> None:
    key, form = cell_key(type), cell_normaliser(type)
    assert [key(form(cell)) for cell in SORTED[type]] == [key(cell) for cell in SORTED[type]]
    assert form(None) is None


def test_text_of_a_cell() -> None:
    assert [cell_text(cell) for cell in (None, "a", True, 1.5)] == ["", "a", "true", "1.5"]
    assert math.isnan(float(cell_text("NaN")))


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_of_no_year_that_can_be_told_is_null(text: str) -> None:
    assert tolerant(cell_key("timestamp"))(text) == tolerant(cell_key("timestamp"))(None)
    assert cell_normaliser("timestamp")(text) is None


@pytest.mark.parametrize("data", [b'{"name":"\xff"}', b'{"name":' + b"[" * 5000 + b"}", b'{"other":' + b"[" * 5000 + b"}", b"{,}"])
def test_a_row_that_is_no_text_or_nested_deep_has_null_cells(data: bytes) -> None:
    assert cell_reader(["name"])(data) == (None,)
    place = placing((SortKey("name"),), Selection(), (Column("name", "string"),))
    assert place.one(data, b"p") == tolerant(cell_key("string"))(None) + b"p"
