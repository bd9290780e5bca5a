"""Reads source topics."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from tablecast.catalog import Source


def stream(session: SparkSession, source: Source, kafka: Mapping[str, str], starting_offsets: str) -> DataFrame:
    """The topic of a source as an endless DataFrame. `kafka` are Spark's options, `kafka.` in front.

    Offsets that were lost to retention fail the query: a table that misses rows must be rebuilt, not shown.
    """
    reader = session.readStream.format("kafka").options(**kafka)
    return reader.option("subscribe", source.topic).option("startingOffsets", starting_offsets).option("failOnDataLoss", "true").load()
