"""The bench's own arithmetic, and that both sides get the same rows."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from bench.views import brief, compared, meets
from bench.views_data import write_data
from bench.views_records import ROUNDS, read_records

SHOWN = {"total": 3, "balances": [9.5, 2.0]}
TIMES: dict[str, Any] = {"one_ms": [0.1, 0.2, 0.3], "thousand_ms": [5.0, 7.0], "build_seconds": 2.0}
OURS: dict[str, Any] = {**TIMES, "rss_bytes": 40, "shown": SHOWN, "total": 3, "table_bytes_per_row": 470, "view_bytes_per_row": 120}
THEIRS: dict[str, Any] = {"one_ms": [300.0], "thousand_ms": [600.0, 500.0], "rss_bytes": 100, "shown": SHOWN, "total": 3}


def test_medians_are_compared_with_the_bars() -> None:
    report = compared(OURS, THEIRS)
    assert (report["one_ms"], report["thousand_ms"], report["one_ratio"], report["thousand_ratio"], report["rss_ratio"]) == (0.2, 6.0, 1500, 92, 0.4)
    assert (report["met"], report["missed"]) == (True, [])


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"one_ms": [0.6]}, ["one_ms", "one_ratio"]),
        ({"thousand_ms": [10.0]}, ["thousand_ms"]),
        ({"build_seconds": 3.0}, ["build_seconds"]),
        ({"rss_bytes": 50}, ["rss_ratio"]),
        ({"view_bytes_per_row": 130}, ["view_bytes_per_row"]),
    ],
)
def test_a_bar_that_is_not_met_is_named(changed: dict[str, Any], missed: list[str]) -> None:
    report = compared(OURS | changed, THEIRS)
    assert (report["met"], report["missed"]) == (False, missed)


def test_sides_that_show_different_rows_do_not_count() -> None:
    assert not compared(OURS, THEIRS | {"shown": {**SHOWN, "balances": [9.5, 1.0]}})["met"]


def test_a_ratio_is_to_be_at_least_its_bar_and_all_else_below() -> None:
    assert meets("one_ratio", 1000, 1000)
    assert not meets("one_ms", 0.5, 0.5)


def test_times_are_told_in_brief() -> None:
    assert brief({"one_ms": [1.0, 2.0, 9.0], "total": 3}) == {"one_ms": {"median": 2.0, "min": 1.0, "max": 9.0, "n": 3}, "total": 3}


def test_both_sides_get_the_same_rows(tmp_path: Path) -> None:
    write_data(tmp_path, 1500)
    records = [record for batch in read_records(tmp_path / "table.records") for record in batch]
    rows = {key: msgspec.json.decode(data) for key, data, _ in records}
    with pa.OSFile(str(tmp_path / "table.arrow")) as file:
        table = pa.ipc.open_stream(file).read_all().to_pylist()
    assert len(rows) == len(records) == 1500
    assert {row["userId"]: row for row in rows.values()} == {row["userId"]: row | {"age": str(row["age"])} for row in table}
    for name, (size, rounds) in ROUNDS.items():
        assert len(list(tmp_path.glob(f"{name}-*.records"))) == rounds
        assert len(next(read_records(tmp_path / f"{name}-000.records"))) == size
