"""Rows as typed columns of Arrow: int64 and timestamps out of text, NaN and infinities out of their names, nulls as nulls."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from tablecast.catalog import Column, ColumnType
from tablecast.tables.cells import cell_reader, cell_text

ARROW_TYPES: dict[ColumnType, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
_INT64 = range(-(1 << 63), 1 << 63)


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([pa.field(column.name, ARROW_TYPES[column.type]) for column in columns])


def batch_maker(columns: Sequence[Column]) -> Callable[[Sequence[bytes]], pa.RecordBatch]:
    """A function from the bytes of rows to a batch of them. A cell that is not of its column's type is null: a row's content never throws."""
    schema, read = arrow_schema(columns), cell_reader([column.name for column in columns])
    turns = [_TURNS[column.type] for column in columns]

    def batch(rows: Sequence[bytes]) -> pa.RecordBatch:
        cells = zip(*map(read, rows), strict=True) if rows else [()] * len(turns)
        arrays = [pa.array([turn(cell) for cell in column], field.type) for turn, field, column in zip(turns, schema, cells, strict=True)]
        return pa.record_batch(arrays, schema)

    return batch


def with_sums(columns: Sequence[Column], rows: Sequence[bytes]) -> tuple[Column, ...]:
    """The columns of groups as they are exported: one with a sum that no int64 holds is text, with all its digits. Reads all rows, one by one: to be
    called in a thread."""
    names = [column.name for column in columns if column.type == "int64"]
    read = cell_reader(names)
    large: set[str] = set()
    for row in rows if names else ():
        large.update(name for name, cell in zip(names, read(row), strict=True) if cell is not None and _int64(cell) is None)
    return tuple(Column(column.name, "string") if column.name in large else column for column in columns)


def _string(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else cell_text(cell)


def _int64(cell: Any) -> int | None:
    try:
        number = int(cell) if isinstance(cell, str) else cell
    except ValueError:
        return None
    return number if isinstance(number, int) and not isinstance(number, bool) and number in _INT64 else None


def _double(cell: Any) -> float | None:
    try:
        return None if cell is None or isinstance(cell, bool) else float(cell)
    except (ValueError, TypeError, OverflowError):
        return None


def _boolean(cell: Any) -> bool | None:
    return cell if isinstance(cell, bool) else None


def _timestamp(cell: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(cell)
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


_TURNS: dict[ColumnType, Callable[[Any], Any]] = {
    "string": _string,
    "int64": _int64,
    "double": _double,
    "boolean": _boolean,
    "timestamp": _timestamp,
}
