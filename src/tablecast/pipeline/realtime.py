"""The rows that each record changes, in Real-Time Mode: one aggregation whose state is what the joins need of a key.

Real-Time Mode emits once for every record, and `last(record)` is then the record that caused the emission. From it and the
newest rows of each side follow the rows that it changes. In a micro-batch, which emits once a key, this plan would lose rows.
"""

from collections.abc import Iterator, Mapping

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tablecast.catalog import JoinTable, SourceTable
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.rows import Rows, no_rows, order_of, parts, same


def changed_rows(records: DataFrame, plan: QueryPlan, topics: Mapping[str, str], history: int) -> DataFrame:
    """`records` as encode() makes them, all inputs of the plan together. Out: topic, id, value, version, order; one for each row that changes."""
    rows = Rows(plan, topics)
    state = records.groupBy("key", "lane").agg(F.last("record").alias("record"), *newest_of_key(rows, history))
    changes = F.concat(*(F.coalesce(change, no_rows()) for change in _Changes(rows).all()))
    return state.select(F.explode(changes).alias("row")).select("row.*")


def newest_of_key(rows: Rows, history: int) -> Iterator[Expression]:
    """What is kept of a key: `newest<input>`, the newest records of each input in falling order, and `first<input>`."""
    record, plan = F.col("record"), rows.plan
    for index in range(len(plan.inputs)):
        mine = (record["input"] == index) & record["reason"].isNull() & F.col("key").isNotNull()
        order = F.when(mine, order_of(record))
        if depth := plan.depth(index, history):
            yield F.max_by(parts(record, rows.kept), order, depth).alias(f"newest{index}")
        if plan.needs_first(index):
            yield F.min(order).alias(f"first{index}")


class _Changes:
    """The rows that `record` changes in each table of a query, as arrays; null where there are none."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.record = F.col("record")
        self.head = self.record["head"]

    def all(self) -> Iterator[Expression]:
        for table in self.plan.tables:
            if isinstance(table, JoinTable):
                yield self._asof(table) if table.join == "asof" else self._joined(table)
            else:
                yield self._of_source(table)
        yield F.when(self.rows.is_dead_letter(self.record), F.array(self.rows.dead_letter(self.record)))

    def _from(self, index: int) -> Expression:
        return (self.record["input"] == index) & self.record["reason"].isNull()

    def _newest(self, index: int) -> Expression:
        return F.get(f"newest{index}", F.lit(0))

    def _moves_keyed_row(self, index: int) -> Expression:
        """A keyed row shows its newest record and stands where its first one does."""
        return same(self._newest(index), self.record) | same(F.col(f"first{index}"), self.record)

    def _of_source(self, table: SourceTable) -> Expression:
        index = self.plan.index(table.source)
        if table.key is None:
            return F.when(self._from(index), F.array(self.rows.plain(table, self.record)))
        row = self.rows.keyed(table, self.head, self._newest(index), F.col(f"first{index}"))
        return F.when(self._from(index) & self._moves_keyed_row(index), F.array(row))

    def _joined(self, table: JoinTable) -> Expression:
        """Left and inner: a left record changes its own row, a new last right record every row of its key."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        last, lefts = self._newest(right), F.col(f"newest{left}")
        first = F.col(f"first{left}") if table.keep_last else None
        if table.keep_last:
            lefts = F.slice(lefts, 1, 1)
            own = F.when(self._moves_keyed_row(left), lefts)
        else:
            own = F.array(parts(self.record, self.rows.kept))
        touched = F.when(self._from(left), own).when(self._from(right) & same(last, self.record), lefts)
        if table.join == "inner":
            touched = F.when(last.isNotNull(), touched)
        return F.transform(touched, lambda row: self.rows.joined(table, self.head, row, last, first))

    def _asof(self, table: JoinTable) -> Expression:
        """A left record makes its own row; a late right record corrects the rows whose newest right record it has become."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)

        def as_of(timestamp: Expression) -> Expression:
            return F.get(F.filter(f"newest{right}", lambda row: row["ts"] <= timestamp), F.lit(0))

        own = F.array(self.rows.joined(table, self.head, self.record, as_of(self.record["ts"])))
        corrected = F.filter(f"newest{left}", lambda row: (row["ts"] >= self.record["ts"]) & same(as_of(row["ts"]), self.record))
        rows = F.transform(corrected, lambda row: self.rows.joined(table, self.head, row, parts(self.record, self.rows.kept)))
        return F.when(self._from(left), own).when(self._from(right), rows)
