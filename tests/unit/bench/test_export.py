"""How bench.export reads files back, and what it calls met."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bench.export import met, read_back

PEOPLE = pa.table({"userId": ["a", "b", "b"]})


@pytest.mark.parametrize("format", ["csv", "arrow", "parquet"])
def test_both_readers_count_users(tmp_path: Path, format: str) -> None:
    file = tmp_path / f"people.{format}"
    if format == "csv":
        pa.csv.write_csv(PEOPLE, file)
    elif format == "parquet":
        pa.parquet.write_table(PEOPLE, file)
    else:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, PEOPLE.schema) as writer:
            writer.write_table(PEOPLE)
    assert read_back(file) == {"pyarrow": 2, "duckdb": 2}


@pytest.mark.parametrize(
    ("quiet", "exporting", "rows", "expected"), [(10, 100, 7, True), (10, 250, 7, False), (None, 100, 7, False), (10, 100, 8, False)]
)
def test_it_is_met_when_all_rows_are_there_and_viewers_notice_little(quiet: float | None, exporting: float, rows: int, expected: bool) -> None:
    found = {"quiet": {"p99_ms": quiet}, "exporting": {"p99_ms": exporting}, "files": {"csv": {"pyarrow": 7, "duckdb": 7}}}
    assert met(found, rows) is expected
