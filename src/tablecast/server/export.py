"""A table or view as a file: CSV, Arrow IPC or Parquet, made piece by piece while it is sent.

The rows are those of one instant: their bytes, which never change, are held in a list for as long as the export lasts, about 8 bytes a row and what
the table has replaced meanwhile. The pieces are made in a thread, each of them only when the one before is sent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from tablecast.catalog import Column
from tablecast.errors import BadView
from tablecast.server.typed_cells import arrow_schema, batch_maker

Format = Literal["csv", "arrow", "parquet"]
Formulas = Literal["keep", "neutralise"]

FORMATS: tuple[str, ...] = get_args(Format)
FORMULAS: tuple[str, ...] = get_args(Formulas)
MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "arrow": "application/vnd.apache.arrow.file",
    "parquet": "application/vnd.apache.parquet",
}

STEP_ROWS = 500
"""Rows that are turned into cells at a time: more would keep the interpreter from the event loop for too long."""
BATCH_ROWS = 16_384
GROUP_ROWS = 65_536
"""Rows of a row group of Parquet, the most that is held in its typed form."""

_FORMULA = r"^\s*[=+\-@\t\r\n＝＋－＠]"
"""Spreadsheets skip spaces, and some take the wide signs of East Asian keyboards for the narrow ones."""
_NUMBER = r"^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class ExportSpec:
    """`formulas`, of CSV only: "neutralise" puts a ' before a text that begins with =, +, -, @, a tab or a line break, also behind spaces, so that a
    spreadsheet shows it instead of running it. A number stays a number, also one that is text. A cell with a ' is not what the table holds, which is
    why "keep" is the default for programs; the page, whose files people open, asks for "neutralise"."""

    format: Format = "csv"
    formulas: Formulas = "keep"

    @classmethod
    def checked(cls, format: str, formulas: str) -> "ExportSpec":
        """Raises BadView."""
        if format not in FORMATS:
            raise BadView(f"there is no format {format[:40]!r}", f"Formats: {', '.join(FORMATS)}.")
        if formulas not in FORMULAS:
            raise BadView(f"formulas cannot be {formulas[:40]!r}", f"Expected one of {', '.join(FORMULAS)}.")
        if formulas != "keep" and format != "csv":
            raise BadView(f"formulas cannot be {formulas!r} in the format {format}", "Only CSV has this choice.")
        return cls(cast(Format, format), cast(Formulas, formulas))


def pieces(spec: ExportSpec, columns: Sequence[Column], rows: Sequence[bytes]) -> Iterator[bytes]:
    """The file in pieces of about a megabyte, none of them empty. Blocks while it makes one: to be called in a thread."""
    tray = _Tray()
    sink = pa.PythonFile(tray, mode="w")
    schema = arrow_schema(columns)
    with _writer(spec, sink, schema) as writer:
        size = GROUP_ROWS if spec.format == "parquet" else BATCH_ROWS
        for start in range(0, len(rows), size):
            table = _typed(columns, rows, range(start, min(start + size, len(rows))))
            writer.write_table(_for_csv(table, spec.formulas) if spec.format == "csv" else table)
            if piece := tray.taken():
                yield piece
    if piece := tray.taken():
        yield piece


class _Tray:
    """A file that is taken away as it is written."""

    closed = False

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        taken = b"".join(self._written)
        self._written.clear()
        return taken


def _writer(spec: ExportSpec, sink: pa.PythonFile, schema: pa.Schema) -> "pa.ipc.RecordBatchFileWriter | pa.parquet.ParquetWriter | pa.csv.CSVWriter":
    match spec.format:
        case "csv":
            # Every text stands in quotes, so that an empty one and a null, which has none, are not the same.
            options = pa.csv.WriteOptions(quoting_style="needed")
            return pa.csv.CSVWriter(sink, _csv_schema(schema), write_options=options)
        case "arrow":
            return pa.ipc.new_file(sink, schema)
        case "parquet":
            return pa.parquet.ParquetWriter(sink, schema, compression="zstd")


def _typed(columns: Sequence[Column], rows: Sequence[bytes], part: range) -> pa.Table:
    batch = batch_maker(columns)
    steps = [batch(rows[start : min(start + STEP_ROWS, part.stop)]) for start in range(part.start, part.stop, STEP_ROWS)]
    return pa.Table.from_batches(steps, arrow_schema(columns)).combine_chunks()


def _csv_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, pa.string() if pa.types.is_timestamp(field.type) else field.type) for field in schema])


def _for_csv(table: pa.Table, formulas: Formulas) -> pa.Table:
    """Timestamps as ISO 8601, and texts that a spreadsheet would run as it was asked for."""
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, pc.strftime(column, "%Y-%m-%dT%H:%M:%SZ"))
        elif formulas == "neutralise" and pa.types.is_string(field.type):
            runs = pc.and_not(pc.match_substring_regex(column, _FORMULA), pc.match_substring_regex(column, _NUMBER))
            table = table.set_column(index, field.name, pc.if_else(runs, pc.binary_join_element_wise("'", column, ""), column))
    return table
