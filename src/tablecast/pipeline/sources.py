"""Reads topics."""

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

Offsets = Mapping[int, int]
"""Partition to offset."""

# A partition's next records are asked for when the last ones are taken, so what matters is how much comes at once, and that the socket holds it.
IN_BULK = {
    "kafka.max.poll.records": "10000",
    "kafka.max.partition.fetch.bytes": "8388608",
    "kafka.receive.buffer.bytes": "1048576",
}


def stream(session: SparkSession, topic: str, kafka: Mapping[str, str], start: Offsets | None = None, most: int | None = None) -> DataFrame:
    """A topic as an endless DataFrame, from `start` or from its beginning. `kafka` are Spark's options, `kafka.` in front.

    `most` records of it go into one micro-batch; real time knows no such limit.
    Offsets that were lost to retention fail the query: a table that misses rows must be rebuilt, not shown.
    """
    reader = session.readStream.format("kafka").options(**kafka).option("subscribe", topic)
    if most is not None:
        reader = reader.option("maxOffsetsPerTrigger", most)
    return reader.option("startingOffsets", _told(topic, start) if start is not None else "earliest").option("failOnDataLoss", "true").load()


def backlog(session: SparkSession, topic: str, kafka: Mapping[str, str], start: Offsets, end: Offsets) -> DataFrame:
    """The records of a topic from `start` up to, and without, `end`."""
    reader = session.read.format("kafka").options(**{**IN_BULK, **kafka}).option("subscribe", topic).option("failOnDataLoss", "true")
    return reader.option("startingOffsets", _told(topic, start)).option("endingOffsets", _told(topic, end)).load()


def _told(topic: str, offsets: Offsets) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in sorted(offsets.items())}})
