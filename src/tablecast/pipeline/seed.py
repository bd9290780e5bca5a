"""Seeds: what a streaming query must know of each key when its tables were filled by a batch job.

A seed is one record of the generation's seed topic: its Kafka key is the key, its value the newest records of each input as JSON. The query reads
the topic as one more input, so a million filled records come back as one record a key. After the seeds, each partition of the topic gets marks: a
mark comes out of the query on the marks' topic once everything before it went in, which tells that the query knows what the batch job knew.
"""

from collections.abc import Sequence
from functools import cache

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from tablecast.pipeline.encode import body_names
from tablecast.pipeline.plan import QueryPlan

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


def seed_value(plan: QueryPlan, history: int) -> Expression:
    """The value of a seed, from a record of the key and the columns that newest_of_key() gives."""
    others = [name for name in seed_schema(plan, history).names if name != "head"]
    return F.to_json(F.struct(F.col("record")["head"].alias("head"), *others))


def without_seed(records: DataFrame, plan: QueryPlan, history: int) -> DataFrame:
    """Source records in the shape that they share with seeds."""
    return records.withColumn("seed", F.lit(None).cast(seed_schema(plan, history)))


def seed_records(seeds: DataFrame, records: StructType, plan: QueryPlan, history: int) -> DataFrame:
    """The seed topic as records: key, lane, record, seed. `records` is the schema of source records."""
    seed = F.from_json(F.col("value").cast("string"), seed_schema(plan, history))
    is_mark = F.col("key").isNull()
    parsed = seeds.select(
        F.col("key").cast("string").alias("key"),
        F.when(is_mark, F.col("value").cast("string")).alias("lane"),
        F.when(~is_mark, seed).alias("seed"),
        "partition",
        "offset",
    )
    known = {
        "input": F.when(F.col("key").isNull(), F.lit(MARK)).otherwise(F.lit(SEED)),
        "ts": F.lit(0).cast("long"),
        "p": F.col("partition"),
        "o": F.col("offset"),
        "head": F.col("seed")["head"],
    }
    shape = records["record"].dataType
    assert isinstance(shape, StructType)
    record = F.struct(*(known.get(part.name, F.lit(None)).cast(part.dataType).alias(part.name) for part in shape.fields))
    return parsed.select("key", "lane", record.alias("record"), "seed")


@cache
def mark_lanes(session: SparkSession, state_partitions: int) -> Sequence[str]:
    """Lanes of which every partition of the state has one."""
    lane = F.concat(F.lit("mark"), F.col("id"))
    placed = session.range(0, 64 * state_partitions, 1, 1).select(
        lane.alias("lane"), F.pmod(F.hash(F.lit(None).cast("string"), lane), F.lit(state_partitions)).alias("place")
    )
    return [str(row["lane"]) for row in placed.groupBy("place").agg(F.min("lane").alias("lane")).orderBy("place").collect()]
