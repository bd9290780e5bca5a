"""The rows that each record changes, in Real-Time Mode: one aggregation whose state is what the joins need of a key.

Real-Time Mode emits once for every record, and `last(record)` is then the record that caused the emission. From it and the
newest rows of each side follow the rows that it changes. In a micro-batch, which emits once a key, this plan would lose rows.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from pyspark.sql import DataFrame

from tablecast.catalog import JoinTable, SourceTable
from tablecast.pipeline import sql
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.rows import Rows, exploded, order_of, parts, same
from tablecast.pipeline.seed import SEED, seed_schema
from tablecast.pipeline.sql import Expression

OBSERVED, OUT_OF_HISTORY = "tablecast", "out_of_history"
"""Under these names a query's progress tells how many records were pushed out of the history of their key."""


def changed_rows(records: DataFrame, plan: QueryPlan, topics: Mapping[str, str], history: int) -> DataFrame:
    """`records` are source records and seeds together. Out: topic, id, value, version, order; one for each row that a record changes."""
    rows = Rows(plan, topics)
    kept = (sql.last("record").alias("record"), sql.first("seed", True).alias("seed"), *newest_of_key(rows, history))
    state = records.groupBy("key", "lane").agg(*map(sql.native, kept))
    known = sql.select(state, *_with_seed(plan, history)).observe(OBSERVED, sql.native(out_of_history(plan, history, _pushed_out)))
    return exploded(known, _Changes(rows).all())


def out_of_history(plan: QueryPlan, history: int, pushed_out: Callable[[int, int], Expression]) -> Expression:
    """How many records were pushed out of the history of their key, of `pushed_out(input, depth)` in each row."""
    counts = [sql.coalesce(pushed_out(index, depth), 0) for index, depth in plan.histories(history).items()]
    return sql.coalesce(sql.sum(sum(counts, sql.lit(0)).cast("long")), 0).alias(OUT_OF_HISTORY)


def _pushed_out(index: int, depth: int) -> Expression:
    """By the record that came last."""
    record = sql.col("record")
    return sql.when((record["input"] == index) & record["reason"].is_null() & (sql.col(f"seen{index}") > depth), 1)


def _with_seed(plan: QueryPlan, history: int) -> Iterator[Expression]:
    """The state of a key with what its seed says. `untold`: records came before the seed, and what they changed is to be said again."""
    yield from (sql.col("key"), sql.col("lane"), sql.col("record"))
    seed = sql.col("seed")
    alive = [sql.col(f"newest{index}") for index in range(len(plan.inputs)) if plan.depth(index, history)]
    some = reduce(lambda one, other: one | other, (sql.size(newest) > 0 for newest in alive), sql.lit(False))
    yield ((sql.col("record")["input"] == SEED) & sql.coalesce(some, False)).alias("untold")
    for index in range(len(plan.inputs)):
        if depth := plan.depth(index, history):
            newest = sql.col(f"newest{index}")
            both = sql.concat(sql.coalesce(newest, sql.array().cast(_type_of(plan, history, f"newest{index}"))), seed[f"newest{index}"])
            merged = sql.slice(sql.sort_array(both, False), 1, depth)
            yield sql.when(seed[f"newest{index}"].is_null(), newest).otherwise(merged).alias(f"newest{index}")
        if plan.needs_first(index):
            yield sql.least(sql.col(f"first{index}"), seed[f"first{index}"]).alias(f"first{index}")
    for index in plan.histories(history):
        yield (sql.col(f"seen{index}") + sql.coalesce(seed[f"seen{index}"], 0)).alias(f"seen{index}")


def _type_of(plan: QueryPlan, history: int, name: str) -> str:
    return seed_schema(plan, history)[name].dataType.simpleString()


def newest_of_key(rows: Rows, history: int, in_order: bool = False) -> Iterator[Expression]:
    """What is kept of a key: `newest<input>`, the newest records of each input in falling order; `first<input>`; `seen<input>`, how many.

    Where the records of a key come `in_order`, the newest one is simply the last.
    """
    record, plan = sql.col("record"), rows.plan
    for index in range(len(plan.inputs)):
        mine = (record["input"] == index) & record["reason"].is_null() & sql.col("key").is_not_null()
        order = sql.when(mine, order_of(record))
        if depth := plan.depth(index, history):
            kept = parts(record, rows.kept)
            newest = _last_of(sql.when(mine, kept)) if in_order and depth == 1 else sql.max_by(kept, order, depth)
            yield newest.alias(f"newest{index}")
        if plan.needs_first(index):
            yield (sql.first(order, True) if in_order else sql.min(order)).alias(f"first{index}")
        if index in plan.histories(history):
            yield sql.count(order).alias(f"seen{index}")


def _last_of(record: Expression) -> Expression:
    """As an array, like all that is kept; null where there is none."""
    last = sql.last(record, True)
    return sql.when(last.is_not_null(), sql.array(last))


class _Changes:
    """The rows that `record` changes in each table of a query, as arrays; null where there are none."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.plan = rows.plan
        self.record = sql.col("record")
        self.head = self.record["head"]
        self.untold = sql.col("untold")

    def all(self) -> Iterator[Expression]:
        for table in self.plan.tables:
            if isinstance(table, JoinTable):
                yield self._asof(table) if table.join == "asof" else self._joined(table)
            elif table.key is not None:
                yield self._keyed(table)
        yield from self.rows.loose(self.record)

    def _from(self, source: str) -> Expression:
        return self.rows.is_from(source, self.record)

    def _newest(self, index: int) -> Expression:
        return sql.get(f"newest{index}", 0)

    def _moves_keyed_row(self, index: int) -> Expression:
        """A keyed row shows its newest record and stands where its first one does."""
        return same(self._newest(index), self.record) | same(sql.col(f"first{index}"), self.record)

    def _keyed(self, table: SourceTable) -> Expression:
        index = self.plan.index(table.source)
        row = self.rows.keyed(table, self.head, self._newest(index), sql.col(f"first{index}"))
        moved = self._from(table.source) & self._moves_keyed_row(index)
        return sql.when(moved | (self.untold & self._newest(index).is_not_null()), sql.array(row))

    def _joined(self, table: JoinTable) -> Expression:
        """Left and inner: a left record changes its own row, a new last right record every row of its key."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        last, lefts = self._newest(right), sql.col(f"newest{left}")
        first = sql.col(f"first{left}") if table.keep_last else None
        if table.keep_last:
            lefts = sql.slice(lefts, 1, 1)
            own: Expression = sql.when(self._moves_keyed_row(left), lefts)
        else:
            own = sql.array(parts(self.record, self.rows.kept))
        touched: Expression = sql.when(self._from(table.left), own).when((self._from(table.right) & same(last, self.record)) | self.untold, lefts)
        if table.join == "inner":
            touched = sql.when(last.is_not_null(), touched)
        return sql.transform(touched, lambda row: self.rows.joined(table, self.head, row, last, first))

    def _asof(self, table: JoinTable) -> Expression:
        """A left record makes its own row; a late right record corrects the rows whose newest right record it has become."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)

        def as_of(timestamp: Expression) -> Expression:
            return sql.get(sql.filter(f"newest{right}", lambda row: row["ts"] <= timestamp), 0)

        own = sql.array(self.rows.joined(table, self.head, self.record, as_of(self.record["ts"])))
        corrected = sql.filter(f"newest{left}", lambda row: (row["ts"] >= self.record["ts"]) & same(as_of(row["ts"]), self.record))
        rows = sql.transform(corrected, lambda row: self.rows.joined(table, self.head, row, parts(self.record, self.rows.kept)))
        every = sql.transform(f"newest{left}", lambda row: self.rows.joined(table, self.head, row, as_of(row["ts"])))
        return sql.when(self._from(table.left), own).when(self._from(table.right), rows).when(self.untold, every)
