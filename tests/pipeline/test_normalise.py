"""From a Kafka value to typed fields or a reason. Nothing that a producer can send throws."""

import json
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tablecast.catalog import Column, ColumnType, Field, Source
from tablecast.pipeline.normalise import MISSING_FIELD, NOT_JSON, NULL_KEY, WRONG_TYPE, normalise


def field(name: str, kind: ColumnType, path: str = "", required: bool = False) -> Field:
    return Field(Column(name, kind), tuple((path or name).split(".")), required)


SOURCE = Source(
    "things",
    "things",
    (
        field("id", "string"),
        field("name", "string"),
        field("age", "int64"),
        field("balance", "double"),
        field("ok", "boolean"),
        field("at", "timestamp"),
        field("city", "string", "address.city"),
        field("zip", "int64", "address.zip"),
    ),
    ("id",),
)

GOOD: list[tuple[bytes, dict[str, Any]]] = [
    (b'{"id":"u1","name":"A","age":5,"balance":1.5,"ok":true}', {"id": "u1", "name": "A", "age": 5, "balance": 1.5, "ok": True}),
    (b'{"id":"u1","age":9223372036854775807}', {"id": "u1", "age": 9223372036854775807}),
    (b'{"id":"u1","age":9007199254740993}', {"id": "u1", "age": 9007199254740993}),
    (b'{"id":"u1","balance":5}', {"id": "u1", "balance": 5.0}),
    (b'{"id":"u1","balance":Infinity}', {"id": "u1", "balance": float("inf")}),
    (b'{"id":"u1","age":null,"name":null,"address":null}', {"id": "u1"}),
    (b'  {"id":"u1"} \n', {"id": "u1"}),
    (b'{"id":"u1","unknown":{"deep":[1,2]}}', {"id": "u1"}),
    ('{"id":"é🎈"}'.encode(), {"id": "é🎈"}),
    (rb'{"id":"\ud83c\udf88"}', {"id": "🎈"}),
    (rb'{"id":"\\ud8ff"}', {"id": r"\ud8ff"}),
    (rb'{"id":"\\\ud83c\udf88"}', {"id": "\\🎈"}),
    (rb'{"id":"a\u0000b"}', {"id": "a\x00b"}),
    (b'{"id":"12"}', {"id": "12"}),
    (b'{"id":"true"}', {"id": "true"}),
    (rb'{"id":"u1","name":"\"NaN\""}', {"id": "u1", "name": '"NaN"'}),
    (b'{"id":"-","name":"[x]"}', {"id": "-", "name": "[x]"}),
    (b'{"id":"12","name":"name"}', {"id": "12", "name": "name"}),
    (b'{"id" : "12","name":\t"7"}', {"id": "12", "name": "7"}),
    (b'{"id":"12","x":{"id":5}}', {"id": "12"}),
    (b'{"id":"12","balance":2,"name":"{"}', {"id": "12", "balance": 2.0, "name": "{"}),
    (b'{"id":"u1","at":"2024-02-29T12:00:00.5Z"}', {"id": "u1", "at": datetime(2024, 2, 29, 12, 0, 0, 500000)}),
    (b'{"id":"u1","at":"2024-02-29T12:00:00+02:00"}', {"id": "u1", "at": datetime(2024, 2, 29, 10)}),
    (b'{"id":"u1","address":{"city":"X","zip":7}}', {"id": "u1", "city": "X", "zip": 7}),
]
BAD: list[tuple[bytes | None, str]] = [
    (None, NOT_JSON),
    (b"", NOT_JSON),
    (b"  ", NOT_JSON),
    (b"not json", NOT_JSON),
    (b'{"id":"u1"', NOT_JSON),
    (b'{"id": "trunc', NOT_JSON),
    (b'{"id":"u1"} and more', NOT_JSON),
    (b'{"id":"u1"}{"id":"u2"}', NOT_JSON),
    (b'{"id":"u1"},{"id":"u2"}', NOT_JSON),
    (b'{"id":"u1"}]', NOT_JSON),
    (b"{'id':'u1'}", NOT_JSON),
    (b'{"id":"\xff\xfe"}', NOT_JSON),
    (b'\xef\xbb\xbf{"id":"u1"}', NOT_JSON),
    (rb'{"id":"\ud83d"}', NOT_JSON),
    (rb'{"id":"\udf88"}', NOT_JSON),
    (rb'{"id":"\\\udf88"}', NOT_JSON),
    (b'{"a":' * 1200 + b"1" + b"}" * 1200, NOT_JSON),
    (b'{"id":"u1","age":' + b"1" * 1500 + b"}", NOT_JSON),
    (b"null", WRONG_TYPE),
    (b"5", WRONG_TYPE),
    (b'"text"', WRONG_TYPE),
    (b'[{"id":"u1"}]', WRONG_TYPE),
    (b'{"id":"u1","age":"5"}', WRONG_TYPE),
    (b'{"id":"u1","age":5.0}', WRONG_TYPE),
    (b'{"id":"u1","age":1e3}', WRONG_TYPE),
    (b'{"id":"u1","age":true}', WRONG_TYPE),
    (b'{"id":"u1","age":9223372036854775808}', WRONG_TYPE),
    (b'{"id":"u1","balance":"abc"}', WRONG_TYPE),
    (b'{"id":"u1","balance":1e999}', WRONG_TYPE),
    (b'{"id":"Inf","balance":1e999}', WRONG_TYPE),
    (b'{"id":"u1","ok":"true"}', WRONG_TYPE),
    (b'{"id":"u1","at":"soon"}', WRONG_TYPE),
    (b'{"id":"u1","at":5}', WRONG_TYPE),
    (b'{"id":"u1","name":5}', WRONG_TYPE),
    (b'{"id":"u1","name":{"first":"A"}}', WRONG_TYPE),
    (b'{"id":"u1","name":["A"]}', WRONG_TYPE),
    (b'{"id":"u1","name":NaN}', WRONG_TYPE),
    (rb'{"id":"a\\b","name":-Infinity}', WRONG_TYPE),
    (b'{"id":7}', WRONG_TYPE),
    (b'{"id":7,"x":{"id":"7"}}', WRONG_TYPE),
    (b'{"id":7,"x":"id"}', WRONG_TYPE),
    (rb'{"id":7,"x\"id":"7"}', WRONG_TYPE),
    (b'{"id":"7","id":7}', WRONG_TYPE),
    (b'{"id":"u1","address":5}', WRONG_TYPE),
    (b'{"id":"u1","address":{"city":5}}', WRONG_TYPE),
    (b'{"id":"u1","address":{"zip":"5"}}', WRONG_TYPE),
    (b"{}", NULL_KEY),
    (b'{"ID":"u1"}', NULL_KEY),
    (b'{"id":null}', NULL_KEY),
    (b'{"id":""}', NULL_KEY),
    (rb'{"id":" \t\n\u00a0 "}', NULL_KEY),
    (b'{"id":"a\tb"}', NOT_JSON),
]


def normalised(spark: SparkSession, values: list[bytes | None], source: Source = SOURCE) -> list[Any]:
    literals = F.array(*(F.lit(value).cast("binary") for value in values))
    frame = spark.range(0, 1, 1, 1).select(F.posexplode(literals).alias("offset", "value"))
    records = frame.select(
        "value",
        F.col("offset").cast("long").alias("offset"),
        F.timestamp_millis(F.lit(1700000000123)).alias("timestamp"),
        F.lit(3).alias("partition"),
    )
    return sorted(normalise(records, source).collect(), key=lambda row: row["o"])


def test_good_values_arrive_as_they_were_sent(spark: SparkSession) -> None:
    rows = normalised(spark, [value for value, _ in GOOD])
    for (value, expected), row in zip(GOOD, rows, strict=True):
        assert row["reason"] is None, value
        assert {name: cell for name, cell in row["fields"].asDict().items() if cell is not None} == expected, value
        assert (row["ts"], row["p"]) == (1700000000123, 3)


@pytest.mark.parametrize("value", [b'{"id":"u1","balance":NaN}', b'{"id":"u1","balance":"NaN"}'])
def test_a_nan_is_a_nan(spark: SparkSession, value: bytes) -> None:
    (row,) = normalised(spark, [value])
    assert row["reason"] is None
    assert row["fields"]["balance"] != row["fields"]["balance"]


def test_bad_values_have_their_reason(spark: SparkSession) -> None:
    rows = normalised(spark, [value for value, _ in BAD])
    told = {value: row["reason"] for (value, _), row in zip(BAD, rows, strict=True)}
    assert told == dict(BAD)


def test_a_required_field_must_be_there(spark: SparkSession) -> None:
    source = Source("things", "things", (field("id", "string"), field("name", "string", required=True)), ("id",))
    reasons = [row["reason"] for row in normalised(spark, [b'{"id":"a"}', b'{"id":"a","name":null}', b'{"id":"a","name":""}'], source)]
    assert reasons == [MISSING_FIELD, MISSING_FIELD, None]


def test_a_member_may_have_any_name(spark: SparkSession) -> None:
    """Names go into Spark as text, where quotes, and the name of a setting in brackets, would mean something."""
    names = ["it's", "a`b", "a\\b", 'say "a"', "${env:HOME}", "$", "a b", "-- a", "/*", "é🎈"]
    source = Source("things", "things", (field("id", "string"), *(field(f"c{at}", "string", name) for at, name in enumerate(names))), ("id",))
    (row,) = normalised(spark, [json.dumps({"id": "u1"} | {name: f"of {name}" for name in names}).encode()], source)
    assert row["reason"] is None
    assert row["fields"].asDict() == {"id": "u1"} | {f"c{at}": f"of {name}" for at, name in enumerate(names)}


def test_a_value_is_parsed_once(spark: SparkSession) -> None:
    """A filter on a parsed field must not parse again. The looks at suspicious texts come behind a condition, one for each text column."""
    records = spark.createDataFrame([], "value binary, timestamp timestamp, partition int, offset long")
    frame = normalise(records, SOURCE).where("reason IS NULL").select("fields.id", "fields.name", "fields.age")
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count("from_json(StructField(list,") == 1
