"""The rows that each batch of records changes, in micro-batches: a stateful operator in Python says which, and the shared code makes them.

A micro-batch emits once a key, so the aggregation of realtime.py would lose rows here. docs/decisions/0004 has the longer why.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tablecast.catalog import JoinTable
from tablecast.pipeline import sql
from tablecast.pipeline.encode import body_names
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.processor import PUSHED_OUT, Processor
from tablecast.pipeline.realtime import OBSERVED, OUT_OF_HISTORY
from tablecast.pipeline.rows import ORDER, Rows, exploded
from tablecast.pipeline.sql import Expression

BUCKETS = 64
"""Keys are handed to Python by the bucket: one call and one Arrow batch for many keys. A checkpoint keeps the number that it was made with."""


def changed_rows(records: DataFrame, plan: QueryPlan, topics: Mapping[str, str], history: int) -> DataFrame:
    """`records` are source records and seeds together. Out: topic, id, value, version, order; one for each row that a batch changes."""
    rows = Rows(plan, topics)
    if not plan.keyed:
        return exploded(records, rows.loose(sql.col("record")))
    bucket = sql.pmod(sql.hash("key", "lane"), BUCKETS)
    arrived = sql.select(records, bucket.alias("bucket"), "key", "lane", sql.to_json("seed").alias("seed"), sql.Expression("record.*"))
    shape = _Shape(records.schema, rows)
    processor = Processor(plan, history, body_names(plan), shape.flat.names)
    outcomes = arrived.groupBy("bucket").transformWithState(processor, shape.flat, "Update", "None")
    pushed_out = sql.coalesce(sql.sum(sql.when(sql.col("table") == PUSHED_OUT, sql.col("left_ts"))), 0)
    observed = outcomes.observe(OBSERVED, sql.native(pushed_out.cast("long").alias(OUT_OF_HISTORY)))
    told = sql.select(observed, "key", "lane", "table", *(shape.packed(part) for part in shape.parts))
    return exploded(told, [*rows.loose(sql.col("left")), *_of_changes(rows)])


class _Shape:
    """What the processor says: flat on its way out of Python, which is several times cheaper than nested, and then as records again."""

    def __init__(self, records: StructType, rows: Rows) -> None:
        record = records["record"].dataType
        assert isinstance(record, StructType)
        self.record = record
        self.parts: dict[str, Sequence[str]] = {"left": record.names, "right": rows.kept, "first": ORDER}

    @property
    def flat(self) -> StructType:
        known = [StructField("key", StringType()), StructField("lane", StringType()), StructField("table", IntegerType())]
        return StructType(
            [*known, *(StructField(f"{part}_{name}", self.record[name].dataType) for part, names in self.parts.items() for name in names)]
        )

    def packed(self, part: str) -> Expression:
        return sql.struct(*(sql.col(f"{part}_{name}").alias(name) for name in self.parts[part])).alias(part)


def _of_changes(rows: Rows) -> Iterator[Expression]:
    left, right, first = sql.col("left"), sql.col("right"), sql.col("first")
    for number, table in enumerate(rows.plan.tables):
        row = None
        if isinstance(table, JoinTable):
            row = rows.joined(table, left["head"], left, right, first if table.keep_last else None)
        elif table.key is not None:
            row = rows.keyed(table, left["head"], left, first)
        if row is not None:
            yield sql.when(sql.col("table") == number, sql.array(row))
