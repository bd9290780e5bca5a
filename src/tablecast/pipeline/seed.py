"""Seeds: what a streaming query must know of each key when its tables were filled by a batch job.

A seed is one record of the generation's seed topic: its Kafka key is the key, its value the newest records of each input as JSON. The query reads
the topic as one more input, so a million filled records come back as one record a key. After the seeds, each partition of the topic gets marks: a
mark comes out of the query on the marks' topic once everything before it went in, which tells that the query knows what the batch job knew.
"""

from collections.abc import Sequence
from functools import cache

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from tablecast.pipeline import sql
from tablecast.pipeline.encode import body_names
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.sql import Expression

SEED = -1
MARK = -2
"""Where a source record says which input it is of, these say that it is of none."""


def seed_schema(plan: QueryPlan, history: int) -> StructType:
    order = [StructField("ts", LongType()), StructField("p", IntegerType()), StructField("o", LongType())]
    kept = StructType([*order, *(StructField(name, StringType()) for name in body_names(plan))])
    fields = [StructField("head", StringType())]
    for index in range(len(plan.inputs)):
        if plan.depth(index, history):
            fields.append(StructField(f"newest{index}", ArrayType(kept)))
        if plan.needs_first(index):
            fields.append(StructField(f"first{index}", StructType(order)))
    fields += [StructField(f"seen{index}", LongType()) for index in plan.histories(history)]
    return StructType(fields)


def _type_of_seed(plan: QueryPlan, history: int) -> str:
    return seed_schema(plan, history).simpleString()


def seed_value(plan: QueryPlan, history: int) -> Expression:
    """The value of a seed, from a record of the key and the columns that newest_of_key() gives."""
    others = [name for name in seed_schema(plan, history).names if name != "head"]
    return sql.to_json(sql.struct(sql.col("record")["head"], *others))


def without_seed(records: DataFrame, plan: QueryPlan, history: int) -> DataFrame:
    """Source records in the shape that they share with seeds."""
    return sql.with_columns(records, {"seed": sql.lit(None).cast(_type_of_seed(plan, history))})


def seed_records(seeds: DataFrame, records: StructType, plan: QueryPlan, history: int) -> DataFrame:
    """The seed topic as records: key, lane, record, seed. `records` is the schema of source records."""
    seed = sql.from_json(sql.col("value").cast("string"), sql.lit(_type_of_seed(plan, history)))
    is_mark = sql.col("key").is_null()
    parsed = sql.select(
        seeds,
        sql.col("key").cast("string").alias("key"),
        sql.when(is_mark, sql.col("value").cast("string")).alias("lane"),
        sql.when(~is_mark, seed).alias("seed"),
        "partition",
        "offset",
    )
    known = {
        "input": sql.when(sql.col("key").is_null(), MARK).otherwise(SEED),
        "ts": sql.lit(0).cast("long"),
        "p": sql.col("partition"),
        "o": sql.col("offset"),
        "head": sql.col("seed")["head"],
    }
    shape = records["record"].dataType
    assert isinstance(shape, StructType)
    record = sql.struct(*(known.get(part.name, sql.lit(None)).cast(part.dataType.simpleString()).alias(part.name) for part in shape.fields))
    return sql.select(parsed, "key", "lane", record.alias("record"), "seed")


@cache
def mark_lanes(session: SparkSession, state_partitions: int) -> Sequence[str]:
    """Lanes of which every partition of the state has one."""
    lane = sql.concat(sql.lit("mark"), sql.col("id"))
    place = sql.pmod(sql.hash(sql.lit(None).cast("string"), lane), state_partitions)
    placed = sql.select(session.range(0, 64 * state_partitions, 1, 1), lane.alias("lane"), place.alias("place"))
    return [str(row["lane"]) for row in placed.groupBy("place").agg(sql.native(sql.min("lane").alias("lane"))).orderBy("place").collect()]
