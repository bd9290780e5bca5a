"""All rows of all tables at once, from the records that exist: how a new generation is filled.

What Real-Time Mode would leave behind after every record, computed with window functions at the speed of a batch job. With the
rows come the seeds: what Real-Time Mode must know of each key to go on from here.
"""

from collections.abc import Iterator, Mapping

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from tablecast.catalog import JoinTable, SourceTable
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.realtime import newest_of_key
from tablecast.pipeline.rows import Rows, exploded, parts
from tablecast.pipeline.seed import seed_value


def filled_rows(records: DataFrame, plan: QueryPlan, topics: Mapping[str, str], history: int) -> DataFrame:
    """`records` as encode() makes them, read more than once: persist them. Out: topic, id, value, version, order."""
    rows = Rows(plan, topics)
    keyed = records.where(F.col("key").isNotNull())
    each = _EachRecord(rows, history)
    lots = [
        exploded(records.where(F.col("key").isNull()), rows.loose(F.col("record"))),
        exploded(each.with_history(keyed), each.of_keys()),
        exploded(_per_key(keyed, rows, history), _EachKey(rows, history).all()),
    ]
    return lots[0].unionByName(lots[1]).unionByName(lots[2])


def _per_key(keyed: DataFrame, rows: Rows, history: int) -> DataFrame:
    return keyed.groupBy("key").agg(F.first(F.col("record")["head"]).alias("head"), *newest_of_key(rows, history))


class _EachRecord:
    """Tables that have a row for each record: plain ones, joins that keep all, as-of joins."""

    def __init__(self, rows: Rows, history: int) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.history = history
        self.record = F.col("record")

    def of_keys(self) -> Iterator[Expression]:
        """Rows of records that went through with_history()."""
        yield from self.rows.loose(self.record)
        for table in self.plan.tables:
            if isinstance(table, JoinTable) and not table.keep_last:
                right = F.col(_right_column(table))
                wanted = self._from(table.left) & right["o"].isNotNull() if table.join == "inner" else self._from(table.left)
                yield F.when(wanted, F.array(self.rows.joined(table, self.record["head"], self.record, right)))

    def with_history(self, keyed: DataFrame) -> DataFrame:
        """Adds, for each join that keeps all, the right record that belongs to a left one."""
        joins = [table for table in self.plan.tables if isinstance(table, JoinTable) and not table.keep_last]
        for table in sorted(joins, key=lambda table: table.join):
            keyed = self._as_of(keyed, table) if table.join == "asof" else self._last(keyed, table)
        return keyed

    def _from(self, source: str) -> Expression:
        return self.rows.is_from(source, self.record)

    def _order(self, right: str) -> WindowSpec:
        """The records of a key in order; at one timestamp the right side comes first, since "as of" includes it."""
        late = self.record["input"] != self.plan.index(right)
        return Window.partitionBy("key").orderBy(self.record["ts"], late, self.record["p"], self.record["o"])

    def _right(self, table: JoinTable) -> Expression:
        return F.when(self._from(table.right), parts(self.record, self.rows.kept))

    def _as_of(self, keyed: DataFrame, table: JoinTable) -> DataFrame:
        return keyed.withColumn(_right_column(table), F.last(self._right(table), ignorenulls=True).over(self._order(table.right)))

    def _last(self, keyed: DataFrame, table: JoinTable) -> DataFrame:
        """The last right record; for a left one that newer left ones push out of the history, the last before that."""
        order = self._order(table.right)
        whole = order.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
        left = F.when(self._from(table.left), F.struct(F.last(self._right(table), ignorenulls=True).over(order).alias("right")))
        by = f"PARTITION BY key ORDER BY record.ts, record.input != {self.plan.index(table.right)}, record.p, record.o"
        pushed_out = F.expr(f"lead(known, {self.history}) IGNORE NULLS OVER ({by})")
        last = F.last(self._right(table), ignorenulls=True).over(whole)
        shown = F.when(F.col("later").isNotNull(), F.col("later")["right"]).otherwise(F.col("last"))
        windowed = keyed.withColumns({"known": left, "last": last}).withColumn("later", pushed_out)
        return windowed.withColumn(_right_column(table), shown).drop("known", "last", "later")


class _EachKey:
    """Tables that have a row for each key, and the seeds."""

    def __init__(self, rows: Rows, history: int) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.history = history

    def all(self) -> Iterator[Expression]:
        for table in self.plan.tables:
            if isinstance(table, JoinTable) and table.keep_last:
                yield self._joined(table)
            elif isinstance(table, SourceTable) and table.key is not None:
                index = self.plan.index(table.source)
                newest = self._newest(index)
                yield F.when(newest.isNotNull(), F.array(self.rows.keyed(table, F.col("head"), newest, F.col(f"first{index}"))))
        yield F.array(self.rows.seed(seed_value(self.plan, self.history)))

    def _newest(self, index: int) -> Expression:
        return F.get(f"newest{index}", F.lit(0))

    def _joined(self, table: JoinTable) -> Expression:
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        exists = self._newest(left).isNotNull()
        shown = exists & self._newest(right).isNotNull() if table.join == "inner" else exists
        return F.when(shown, F.array(self.rows.joined(table, F.col("head"), self._newest(left), self._newest(right), F.col(f"first{left}"))))


def _right_column(table: JoinTable) -> str:
    return f"right_of_{table.name}"
