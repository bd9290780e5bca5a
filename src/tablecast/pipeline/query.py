"""Fills the tables of a query from the backlog, and starts the query that keeps them up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.catalog import Source
from tablecast.pipeline import microbatch, realtime
from tablecast.pipeline.batch import Filling
from tablecast.pipeline.encode import encode
from tablecast.pipeline.normalise import normalise
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.rows import SEEDS
from tablecast.pipeline.seed import seed_records, without_seed
from tablecast.pipeline.sink import changelog_writer, write_changelogs
from tablecast.pipeline.sources import Offsets, backlog, stream
from tablecast.settings import PipelineSettings


@dataclass(frozen=True)
class Ends:
    """Where a query reads and where it writes: Spark's options for the Kafka of the sources and, as a reader and as a writer, for that of
    the changelogs; the topic of each table, and those of seeds and marks. Options hold secrets, which no repr shows."""

    sources: Mapping[str, str] = field(repr=False)
    seeds: Mapping[str, str] = field(repr=False)
    changelogs: Mapping[str, str] = field(repr=False)
    topics: Mapping[str, str]


@dataclass(frozen=True)
class Span:
    """What of a topic is filled by a batch job: from `begin` up to, and without, `end`. The query goes on at `end`."""

    begin: Offsets
    end: Offsets

    @property
    def records(self) -> int:
        return sum(max(0, end - self.begin.get(partition, end)) for partition, end in self.end.items())


Spans = Mapping[str, Span]
"""Topic to span."""

AT_ONCE = "0 seconds"
"""A micro-batch follows the one before it as soon as there is a record."""
MOST_RECORDS = 20_000
"""Of a topic in one micro-batch: what came in while nobody ran is caught up in steps that fit into memory. Seeds all come in the first batch."""


def fill(session: SparkSession, plan: QueryPlan, ends: Ends, settings: PipelineSettings, spans: Spans, tasks: int | None = None) -> int:
    """Writes every row that the spans hold, and the seeds. May be run again: rows of the same version have the same content.

    Reads and writes with at most so many `tasks` at once, where something else runs on the same machine; None: as many as there are partitions.
    Returns how many records were pushed out of the history of their key; none where the changelogs' Kafka has a secret, of which no plan may tell.
    """

    def read(source: Source) -> DataFrame:
        span = spans[source.topic]
        return backlog(session, source.topic, ends.sources, span.begin, span.end)

    def gently(frame: DataFrame) -> DataFrame:
        return frame if tasks is None else frame.coalesce(tasks)

    filling = Filling(gently(_records(plan, settings, read)), plan, ends.topics, settings)
    try:
        observed = write_changelogs(gently(filling.rows()), ends.changelogs, settings.row_bytes)
        return filling.out_of_history() if observed else 0
    finally:
        filling.close()


def start_query(session: SparkSession, plan: QueryPlan, ends: Ends, settings: PipelineSettings, spans: Spans, checkpoint: str) -> StreamingQuery:
    """Runs until it is stopped or fails. A checkpoint that exists is gone on with, else the ends of the spans are where it begins."""
    most = MOST_RECORDS if settings.trigger == "microbatch" else None
    records = without_seed(
        _records(plan, settings, lambda source: stream(session, source.topic, ends.sources, spans[source.topic].end, most)), plan, settings.history
    )
    seeds = seed_records(stream(session, ends.topics[SEEDS], ends.seeds), records.schema, plan, settings.history)
    changed_rows = microbatch.changed_rows if settings.trigger == "microbatch" else realtime.changed_rows
    rows = changed_rows(records.unionByName(seeds), plan, ends.topics, settings.history)
    writer = changelog_writer(rows, ends.changelogs, settings.row_bytes).option("checkpointLocation", checkpoint)
    if settings.trigger == "microbatch":
        return writer.trigger(processingTime=AT_ONCE).start()
    # The type hints of PySpark 4.3 do not know this trigger yet.
    return writer.trigger(realTime=settings.checkpoint_interval).start()  # type: ignore[call-overload,no-any-return]


def _records(plan: QueryPlan, settings: PipelineSettings, read: Callable[[Source], DataFrame]) -> DataFrame:
    inputs = [encode(normalise(read(given.source), given.source), plan, index, settings.row_bytes) for index, given in enumerate(plan.inputs)]
    return reduce(DataFrame.unionByName, inputs)
