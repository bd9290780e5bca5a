"""Starts the streaming queries of a generation."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import PurePath

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.pipeline.encode import encode
from tablecast.pipeline.normalise import normalise
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.realtime import changed_rows
from tablecast.pipeline.sink import changelog_writer
from tablecast.pipeline.sources import stream
from tablecast.settings import PipelineSettings


@dataclass(frozen=True)
class Ends:
    """Where a query reads and where it writes: Spark's options for both Kafkas, and the changelog of each table."""

    sources: Mapping[str, str]
    changelogs: Mapping[str, str]
    topics: Mapping[str, str]


def start_query(session: SparkSession, plan: QueryPlan, ends: Ends, settings: PipelineSettings, checkpoint: PurePath | str) -> StreamingQuery:
    """Runs until it is stopped or fails. A checkpoint that exists is gone on with."""
    rows = changed_rows(_records(session, plan, ends, settings), plan, ends.topics, settings.history)
    writer = changelog_writer(rows, ends.changelogs, settings.row_bytes).option("checkpointLocation", str(checkpoint))
    # The type hints of PySpark 4.3 do not know this trigger yet.
    return writer.trigger(realTime=settings.checkpoint_interval).start()  # type: ignore[call-overload,no-any-return]


def _records(session: SparkSession, plan: QueryPlan, ends: Ends, settings: PipelineSettings) -> DataFrame:
    inputs = [
        encode(normalise(stream(session, given.source, ends.sources, settings.starting_offsets), given.source), plan, index, settings.row_bytes)
        for index, given in enumerate(plan.inputs)
    ]
    return reduce(DataFrame.unionByName, inputs)
