"""Task slots: in Real-Time Mode every partition of every stage of a query holds one for as long as the query runs."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from tablecast.catalog import Catalog
from tablecast.errors import SparkUnusable
from tablecast.pipeline.plan import QueryPlan, plan_queries

LEAST_LOCAL = 256
"""Enough for two generations of a dozen sources. A real-time task mostly sleeps, so a slot is a thread, not a core."""


def seed_partitions(state_partitions: int) -> int:
    """Each costs a task for as long as the query runs, though it is read but once: so half as many as the state has take the seeds in."""
    return max(1, state_partitions // 2)


def slots_needed(plan: QueryPlan, partitions: Mapping[str, int], state_partitions: int) -> int:
    """`partitions` of each source topic. A query with fewer slots would wait for the rest for ever, without a word."""
    return sum(partitions[given.source.topic] for given in plan.inputs) + seed_partitions(state_partitions) + state_partitions


def local_slots(catalog: Catalog, partitions: Mapping[str, int], state_partitions: int, twin: bool) -> int:
    """What a session needs that runs in this machine's own process: for two generations of the catalogue, of which one is filled meanwhile by a task
    for each partition, and never less than LEAST_LOCAL, since the next topics may have more partitions than those that are known."""
    each = sum(slots_needed(plan, partitions, state_partitions) for plan in plan_queries(catalog))
    return max(LEAST_LOCAL, 2 * (2 * each if twin else each) + sum(partitions.values()))


def reserve(session: SparkSession, needed: int, held: int, what: str) -> None:
    """Raises SparkUnusable unless `needed` slots are free beside those that are `held`."""
    total = session.sparkContext.defaultParallelism
    if needed > total - held:
        raise SparkUnusable(
            f"{what} needs {needed} task slots at once, and {total - held} of {total} are free",
            "Use topics of fewer partitions, a larger Spark, or local[N] with a larger N as pipeline.master.",
        )
