"""Thousands of values that are nearly right, in one job of the real Spark: each becomes a row that says what the value said, or a dead letter."""

import base64
import json
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tablecast.catalog import SourceTable
from tablecast.pipeline.encode import RAW_BYTES, encode
from tablecast.pipeline.normalise import REASONS, normalise
from tablecast.pipeline.plan import Input, QueryPlan
from tests.fuzz.inputs import mutated
from tests.pipeline.test_normalise import SOURCE

VALUES = 3000
ROW_BYTES = 100_000
CORPUS: tuple[dict[str, Any], ...] = (
    {"id": "u1", "name": "Zoë", "age": 5, "balance": 1.5, "ok": True, "at": "2026-01-01T00:00:00Z", "address": {"city": "Bern", "zip": 3000}},
    {"id": "u2", "name": 'quote " slash \\ tab \t', "age": -(2**63), "balance": "NaN", "ok": None, "at": None, "address": None},
    {"id": "12", "name": "{", "balance": -0.0, "unknown": {"id": "other", "deep": [1, {"name": 2}]}},
)
PLAN = QueryPlan((Input(SOURCE, "id", True),), (SourceTable("things", "things", SOURCE.columns, "id"),))


def hostile_values() -> list[bytes]:
    random = Random(8)
    return [mutated(random, CORPUS) for _ in range(VALUES)]


def read_back(spark: SparkSession, values: list[bytes], folder: Path) -> DataFrame:
    """As Kafka's source gives them."""
    file = folder / "values"
    file.write_text("\n".join(f"{number} {base64.b64encode(value).decode()}" for number, value in enumerate(values)))
    parts = F.split("value", " ")
    return spark.read.text(str(file)).select(
        F.unbase64(parts[1]).alias("value"),
        parts[0].cast("long").alias("offset"),
        F.timestamp_millis(F.lit(1_700_000_000_123)).alias("timestamp"),
        F.lit(0).alias("partition"),
    )


class Twice(Exception):
    """A name stands twice in one object: what it says is anybody's guess."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Twice
    return dict(pairs)


def said(value: bytes) -> dict[str, Any]:
    """The cells that the value tells, as Python reads it, and as a row has them."""
    told = json.loads(value, object_pairs_hook=once)
    place = told.get("address") or {}
    cells = {name: told.get(name) for name in ("id", "name", "age", "ok")} | {"city": place.get("city"), "zip": place.get("zip")}
    return {name: str(cell) if type(cell) is int else cell for name, cell in cells.items()}


def test_each_value_is_a_row_of_its_own_or_a_dead_letter(spark: SparkSession, tmp_path: Path) -> None:
    values = hostile_values()
    records = read_back(spark, values, tmp_path)
    found = {row["record"]["o"]: row["record"] for row in encode(normalise(records, SOURCE), PLAN, 0, ROW_BYTES).collect()}
    assert sorted(found) == list(range(len(values)))
    rows = 0
    for offset, record in found.items():
        if record["reason"] is not None:
            assert record["reason"] in REASONS
            assert record["raw"] is not None
            assert len(record["raw"].encode()) <= 3 * RAW_BYTES
            continue
        rows += 1
        row = json.loads(f"{{{record['head']},{record['body0']}}}", object_pairs_hook=once)
        assert set(row) == {column.name for column in SOURCE.columns}
        try:
            expected = said(values[offset])
        except Twice:
            continue
        assert {name: row[name] for name in expected} == expected, values[offset]
    assert len(values) / 20 < rows < len(values)
