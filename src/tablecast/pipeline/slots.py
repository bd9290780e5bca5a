"""Task slots: in Real-Time Mode every partition of every stage of a query holds one for as long as the query runs."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from tablecast.errors import SparkUnusable
from tablecast.pipeline.plan import QueryPlan


def slots_needed(plan: QueryPlan, partitions: Mapping[str, int], seed_partitions: int, state_partitions: int) -> int:
    """`partitions` of each source topic. A query with fewer slots would wait for the rest for ever, without a word."""
    return sum(partitions[given.source.topic] for given in plan.inputs) + seed_partitions + state_partitions


def reserve(session: SparkSession, needed: int, held: int, what: str) -> None:
    """Raises SparkUnusable unless `needed` slots are free beside those that are `held`."""
    total = session.sparkContext.defaultParallelism
    if needed > total - held:
        raise SparkUnusable(
            f"{what} needs {needed} task slots at once, and {total - held} of {total} are free",
            "Use topics of fewer partitions, a larger Spark, or local[N] with a larger N as pipeline.master.",
        )
