"""All rows of all tables at once, from the records that exist: how a new generation is filled.

What Real-Time Mode would leave behind after every record, computed at the speed of a batch job. The records of a key are brought together and
sorted once; window functions over them give the tables that have a row for each record, an aggregation those that have one for each key. With
the rows come the seeds: what Real-Time Mode must know of each key to go on from here.
"""

import logging
import threading
from collections.abc import Iterator, Mapping

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation

from tablecast.catalog import JoinTable, SourceTable, Table
from tablecast.kafka.changelog import seeded_bytes
from tablecast.pipeline import sql
from tablecast.pipeline.encode import body_names
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.realtime import OUT_OF_HISTORY, newest_of_key, out_of_history
from tablecast.pipeline.rows import Rows, exploded, parts
from tablecast.pipeline.seed import seed_value
from tablecast.pipeline.sql import Expression
from tablecast.settings import PipelineSettings

log = logging.getLogger(__name__)

COUNT_SECONDS = 30.0
GROUP = ("key", "lane")
IN_ORDER = ("ts", "tie", "p", "o")


class Filling:
    """The rows of one query. Sorted records that are read twice are kept until close()."""

    def __init__(self, records: DataFrame, plan: QueryPlan, topics: Mapping[str, str], settings: PipelineSettings) -> None:
        """`records` as encode() makes them."""
        self._rows = Rows(plan, topics)
        self._history = settings.history
        self._row_bytes = settings.row_bytes
        self._observation = Observation()
        self._keyed = plan.keyed
        self._of_records = any(_has_row_for_each_record(table) for table in plan.tables)
        self._records = _in_order(records, plan) if self._keyed else records
        if self._keyed and self._of_records:
            self._records = self._records.persist(StorageLevel.MEMORY_AND_DISK)

    def rows(self) -> DataFrame:
        """topic, id, value, version, order."""
        each = _EachRecord(self._rows, self._history)
        if not self._keyed:
            return exploded(self._records, each.all())
        of_keys = self._aggregated(self._records.where(sql.col("key").is_not_null().text) if self._of_records else self._records)
        if not self._of_records:
            return exploded(of_keys, [*self._rows.loose(sql.col("record")), *_EachKey(self._rows, self._history).all()])
        of_records = exploded(each.with_history(self._records), each.all())
        return of_records.unionByName(exploded(of_keys, _EachKey(self._rows, self._history).all()))

    def close(self) -> None:
        self._records.unpersist()

    def out_of_history(self) -> int:
        """How many records newer ones of their key pushed out of the history. To be asked when the rows are written."""
        return counted(self._observation) if self._keyed else 0

    def _aggregated(self, records: DataFrame) -> DataFrame:
        # Kept records may come back in another order; those of a single pass come as they were sorted.
        newest = newest_of_key(self._rows, self._history, in_order=not self._of_records)
        of_keys = records.groupBy(*GROUP).agg(*map(sql.native, (sql.first("record").alias("record"), *newest)))
        fitting = sql.with_columns(of_keys, dict(self._fitting()))
        return fitting.observe(self._observation, sql.native(out_of_history(self._rows.plan, self._history, _pushed_out)))

    def _fitting(self) -> Iterator[tuple[str, Expression]]:
        """As much of each history as fits into a seed, the newest record in any case: where rows are large, bytes bound the history too."""
        histories = self._rows.plan.histories(self._history)
        for index in histories:
            yield f"newest{index}", self._cut(sql.col(f"newest{index}"), seeded_bytes(self._row_bytes) // len(histories))

    def _cut(self, newest: Expression, share: int) -> Expression:
        def fits(_: Expression, place: Expression) -> Expression:
            return (place == 0) | (self._bytes(sql.slice(newest, 1, place + 1)) <= share)

        return sql.when(self._bytes(newest) <= share, newest).otherwise(sql.filter(newest, fits))

    def _bytes(self, records: Expression) -> Expression:
        def size(record: Expression) -> Expression:
            return sum((sql.coalesce(sql.octet_length(record[name]), 0) for name in body_names(self._rows.plan)), sql.lit(0))

        return sql.aggregate(records, sql.lit(0).cast("long"), lambda so_far, record: so_far + size(record))


def counted(observation: Observation, seconds: float = COUNT_SECONDS) -> int:
    """Spark hands a count over by listeners, whom some of its ways of writing tell nothing. No generation waits for ever for a count."""
    counts: list[int] = []
    asking = threading.Thread(target=lambda: counts.append(int(observation.get[OUT_OF_HISTORY])), name="count", daemon=True)
    asking.start()
    asking.join(seconds)
    if not counts:
        log.warning("[pipeline] Spark did not tell within %g s how many records a fill pushed out of their history: they are not counted", seconds)
    return sum(counts)


def _in_order(records: DataFrame, plan: QueryPlan) -> DataFrame:
    """The records of a key together and in their order. One without a key is a group of its own."""
    record, ranks = sql.col("record"), plan.tie_ranks()
    alone = sql.when(sql.col("key").is_null(), sql.concat_ws(sql.lit("-"), record["input"], record["p"], record["o"]))
    tie = sql.get(sql.array(*ranks), record["input"])
    spread = sql.select(records, "key", alone.alias("lane"), record["ts"], tie.alias("tie"), record["p"], record["o"], "record")
    return spread.repartition(*GROUP).sortWithinPartitions(*GROUP, *IN_ORDER)


def _pushed_out(index: int, depth: int) -> Expression:
    return sql.col(f"seen{index}") - sql.size(f"newest{index}")


def _has_row_for_each_record(table: Table) -> bool:
    return table.key is None if isinstance(table, SourceTable) else not table.keep_last


class _EachRecord:
    """Tables that have a row for each record: plain ones, joins that keep all, as-of joins, dead letters."""

    def __init__(self, rows: Rows, history: int) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.history = history
        self.record = sql.col("record")

    def all(self) -> Iterator[Expression]:
        """Rows of records that went through with_history(), if there is a join."""
        yield from self.rows.loose(self.record)
        for table in self.plan.tables:
            if isinstance(table, JoinTable) and not table.keep_last:
                right = sql.col(_right_column(table))
                wanted = self._from(table.left) & right["o"].is_not_null() if table.join == "inner" else self._from(table.left)
                yield sql.when(wanted, sql.array(self.rows.joined(table, self.record["head"], self.record, right)))

    def with_history(self, ordered: DataFrame) -> DataFrame:
        """Adds, for each join that keeps all, the right record that belongs to a left one."""
        for table in self.plan.tables:
            if isinstance(table, JoinTable) and not table.keep_last:
                ordered = self._as_of(ordered, table) if table.join == "asof" else self._last(ordered, table)
        return ordered

    def _from(self, source: str) -> Expression:
        return self.rows.is_from(source, self.record)

    def _order(self, table: JoinTable) -> str:
        """The records of a key in order; at one timestamp the right side comes first, since "as of" includes it."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        ranks = self.plan.tie_ranks()
        if table.join != "asof" or ranks[right] < ranks[left]:
            return _window(*IN_ORDER)
        return _window("ts", (self.record["input"] != right).text, "p", "o")

    def _right(self, table: JoinTable) -> Expression:
        return sql.when(self._from(table.right), parts(self.record, self.rows.kept))

    def _as_of(self, ordered: DataFrame, table: JoinTable) -> DataFrame:
        return sql.with_columns(ordered, {_right_column(table): sql.over(sql.last(self._right(table), True), self._order(table))})

    def _last(self, ordered: DataFrame, table: JoinTable) -> DataFrame:
        """The last right record; for a left one that newer left ones push out of the history, the last before that."""
        order = self._order(table)
        whole = f"{order} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        left = sql.when(self._from(table.left), sql.struct(sql.over(sql.last(self._right(table), True), order).alias("right")))
        pushed_out = sql.over(Expression(f"{sql.lead('known', self.history)} IGNORE NULLS"), _window(*IN_ORDER))
        last = sql.over(sql.last(self._right(table), True), whole)
        shown = sql.when(sql.col("later").is_not_null(), sql.col("later")["right"]).otherwise(sql.col("last"))
        windowed = sql.with_columns(sql.with_columns(ordered, {"known": left, "last": last}), {"later": pushed_out})
        return sql.with_columns(windowed, {_right_column(table): shown}).drop("known", "last", "later")


class _EachKey:
    """Tables that have a row for each key, and the seeds. `record` is any record of the key."""

    def __init__(self, rows: Rows, history: int) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.history = history
        self.head = sql.col("record")["head"]

    def all(self) -> Iterator[Expression]:
        for table in self.plan.tables:
            if isinstance(table, JoinTable) and table.keep_last:
                yield self._joined(table)
            elif isinstance(table, SourceTable) and table.key is not None:
                index = self.plan.index(table.source)
                newest = self._newest(index)
                yield sql.when(newest.is_not_null(), sql.array(self.rows.keyed(table, self.head, newest, sql.col(f"first{index}"))))
        yield sql.when(sql.col("key").is_not_null(), sql.array(self.rows.seed(seed_value(self.plan, self.history))))

    def _newest(self, index: int) -> Expression:
        return sql.get(f"newest{index}", 0)

    def _joined(self, table: JoinTable) -> Expression:
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        exists = self._newest(left).is_not_null()
        shown = exists & self._newest(right).is_not_null() if table.join == "inner" else exists
        return sql.when(shown, sql.array(self.rows.joined(table, self.head, self._newest(left), self._newest(right), sql.col(f"first{left}"))))


def _window(*order: str) -> str:
    return f"PARTITION BY {', '.join(GROUP)} ORDER BY {', '.join(order)}"


def _right_column(table: JoinTable) -> str:
    return f"right_of_{table.name}"
