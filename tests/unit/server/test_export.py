"""What is in an exported file, read back with pyarrow and DuckDB."""

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.server.export import BATCH_ROWS, GROUP_ROWS, ExportSpec, Format, pieces
from tablecast.server.typed_cells import with_sums

COLUMNS = (
    Column("text", "string"),
    Column("n", "int64"),
    Column("x", "double"),
    Column("yes", "boolean"),
    Column("at", "timestamp"),
)
MOMENT = datetime(2026, 2, 3, 4, 5, 6, 789_012, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {"text": 'Zoë 🙂, "quoted"\nand more', "n": str(2**63 - 1), "x": 0.1, "yes": True, "at": "2026-02-03T04:05:06.789012Z"},
    {"text": "", "n": str(-(2**63)), "x": "Infinity", "yes": False, "at": "1969-12-31T23:59:59Z"},
    {"text": "=1+1", "n": "0", "x": "-Infinity", "yes": None, "at": None},
    {"text": None, "n": None, "x": None, "yes": None, "at": None},
    {"text": "NaN", "n": "1", "x": "NaN", "yes": True, "at": "2026-02-03T04:05:06.789012Z"},
]
EXPECTED: list[tuple[Any, ...]] = [
    ('Zoë 🙂, "quoted"\nand more', 2**63 - 1, 0.1, True, MOMENT),
    ("", -(2**63), math.inf, False, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ("=1+1", 0, -math.inf, None, None),
    (None, None, None, None, None),
    ("NaN", 1, "nan", True, MOMENT),
]


def encoded(rows: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row, ensure_ascii=False).encode() for row in rows]


def file_of(folder: Path, format: Format, rows: list[bytes], columns: tuple[Column, ...] = COLUMNS, **options: Any) -> Path:
    path = folder / f"table.{format}"
    path.write_bytes(b"".join(pieces(ExportSpec(format, **options), columns, rows)))
    return path


def read_csv(path: Path) -> pa.Table:
    types = {"text": pa.string(), "n": pa.int64(), "x": pa.float64(), "yes": pa.bool_(), "at": pa.timestamp("us", tz="UTC")}
    options = pa.csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""], timestamp_parsers=[pa.csv.ISO8601]
    )
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=options)


def read_arrow(path: Path) -> pa.Table:
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


READERS: dict[Format, Callable[[Path], pa.Table]] = {"csv": read_csv, "arrow": read_arrow, "parquet": pa.parquet.read_table}


def comparable(cells: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("nan" if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells)


@pytest.mark.parametrize("format", READERS)
def test_every_cell_comes_back_in_pyarrow(tmp_path: Path, format: Format) -> None:
    table = READERS[format](file_of(tmp_path, format, encoded(ROWS)))
    assert table.schema.names == [column.name for column in COLUMNS]
    assert [str(type) for type in table.schema.types] == ["string", "int64", "double", "bool", "timestamp[us, tz=UTC]"]
    assert [comparable(tuple(row.values())) for row in table.to_pylist()] == EXPECTED


@pytest.mark.parametrize("format", READERS)
def test_every_cell_comes_back_in_duckdb(tmp_path: Path, format: Format) -> None:
    path = file_of(tmp_path, format, encoded(ROWS))
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        if format == "arrow":
            arrow = read_arrow(path)
            database.register("exported", arrow)
            source = "exported"
        elif format == "parquet":
            source = f"'{path}'"
        else:
            types = "{'text': 'varchar', 'n': 'bigint', 'x': 'double', 'yes': 'boolean', 'at': 'timestamptz'}"
            source = f"read_csv('{path}', columns = {types}, allow_quoted_nulls = false, header = true)"
        rows = database.execute(f'select "text", n, x, yes, epoch_us("at") from {source}').fetchall()  # noqa: S608 - a path of our own
    moments = [(*cells[:4], cells[4] and int(cells[4].timestamp()) * 1_000_000 + cells[4].microsecond) for cells in EXPECTED]
    assert [comparable(row) for row in rows] == moments


@pytest.mark.parametrize("format", READERS)
def test_a_table_without_rows_has_its_columns(tmp_path: Path, format: Format) -> None:
    table = READERS[format](file_of(tmp_path, format, []))
    assert (table.num_rows, table.schema.names) == (0, [column.name for column in COLUMNS])


@pytest.mark.parametrize(("format", "size"), [("csv", BATCH_ROWS), ("arrow", BATCH_ROWS), ("parquet", GROUP_ROWS)])
def test_a_long_table_comes_in_pieces_and_in_order(tmp_path: Path, format: Format, size: int) -> None:
    columns = (Column("n", "int64"),)
    rows = [b'{"n":"%d"}' % number for number in range(2 * size + 1)]
    made = list(pieces(ExportSpec(format), columns, rows))
    assert len(made) >= 3
    assert all(made)
    path = tmp_path / f"long.{format}"
    path.write_bytes(b"".join(made))
    table = pa.csv.read_csv(path) if format == "csv" else READERS[format](path)
    assert table.column("n").to_pylist() == list(range(len(rows)))


def test_what_is_not_of_its_type_is_null(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"text": 7, "n": "many", "x": "wide", "yes": "yes", "at": "yesterday"},
        {"text": True, "n": str(2**64), "x": True, "yes": 1, "at": 5},
        {},
    ]
    table = read_arrow(file_of(tmp_path, "arrow", [*encoded(odd), b"{broken}"]))
    nothing = (None,) * 4
    assert [tuple(row.values()) for row in table.to_pylist()] == [("7", *nothing), ("true", *nothing), (None, *nothing), (None, *nothing)]


def test_formulas_are_kept_unless_it_is_asked_otherwise(tmp_path: Path) -> None:
    run = ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(1)", "\tx", "\rx", "\n=1", "  =1+1", "＝1+1", "-", "+-1"]
    left = ["x=1", "", None, "'quoted", "-1", "+49", "-1.5", "-12,5", "+1e-5", str(-(2**70))]
    texts = [*run, *left]
    rows = encoded([{"text": text, "n": "-5", "x": -0.5} for text in texts])
    columns = (Column("text", "string"), Column("n", "int64"), Column("x", "double"))
    kept = read_csv(file_of(tmp_path, "csv", rows, columns))
    assert kept.column("text").to_pylist() == texts
    neutral = read_csv(file_of(tmp_path, "csv", rows, columns, formulas="neutralise"))
    assert neutral.column("text").to_pylist() == [*(f"'{text}" for text in run), *left]
    assert (set(neutral.column("n").to_pylist()), set(neutral.column("x").to_pylist())) == ({-5}, {-0.5})


def test_no_text_breaks_out_of_its_cell(tmp_path: Path) -> None:
    texts = ['","=1+1', '"\n=1+1,', 'a"b', "a\r\nb", ",", ";\t|"]
    table = read_csv(file_of(tmp_path, "csv", encoded([{"text": text, "n": "1"} for text in texts]), COLUMNS[:2]))
    assert table.to_pylist() == [{"text": text, "n": 1} for text in texts]


@pytest.mark.parametrize(
    ("format", "formulas", "words"),
    [("xlsx", "keep", "no format 'xlsx'"), ("csv", "run", "formulas cannot be 'run'"), ("arrow", "neutralise", "Only CSV has this choice")],
)
def test_what_cannot_be_exported_is_told(format: str, formulas: str, words: str) -> None:
    with pytest.raises(BadView) as refused:
        ExportSpec.checked(format, formulas)
    assert words in str(refused.value)


def test_a_sum_that_no_int64_holds_is_exported_with_all_its_digits(tmp_path: Path) -> None:
    columns = (Column("kind", "string"), Column("count", "int64"), Column("sum_n", "int64"))
    rows = encoded([{"kind": "a", "count": "2", "sum_n": str(2**64)}, {"kind": "b", "count": "1", "sum_n": None}])
    typed = with_sums(columns, rows)
    assert [column.type for column in typed] == ["string", "int64", "string"]
    assert pa.parquet.read_table(file_of(tmp_path, "parquet", rows, typed)).to_pylist()[0] == {"kind": "a", "count": 2, "sum_n": str(2**64)}
    assert with_sums(columns, []) == columns
    assert with_sums(columns[:1], rows) == columns[:1]
