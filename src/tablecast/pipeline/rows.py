"""How the rows of tables are put together from encoded records, whatever plan decides which rows are to be made.

A row is a struct: the changelog that it goes to, its row id, its JSON value, its version and, for a keyed row, its place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyspark.sql import DataFrame

from tablecast.catalog import DEAD_LETTERS, JoinTable, SourceTable
from tablecast.pipeline import sql
from tablecast.pipeline.encode import bodies_of, body_names, null_body, right_names
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.seed import MARK
from tablecast.pipeline.sql import Expression

ROWS = "array<struct<topic:string,id:string,value:string,version:string,order:string>>"
SEEDS, MARKS = "#seeds", "#marks"
"""Under these names, which no table can have, `topics` holds the topic that seeds go to and the one that marks come out on."""
ORDER = ("ts", "p", "o")
DEAD_LETTER_TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"


def no_rows() -> Expression:
    return sql.array().cast(ROWS)


def exploded(frame: DataFrame, arrays: Iterable[Expression]) -> DataFrame:
    """One row for each row in the arrays; a null array holds none."""
    every = sql.concat(*(sql.coalesce(array, no_rows()) for array in arrays), no_rows())
    return sql.select(frame, sql.explode(every).alias("row")).select("row.*")


def parts(record: Expression, names: Sequence[str]) -> Expression:
    return sql.struct(*(record[name] for name in names))


def order_of(record: Expression) -> Expression:
    """Records compare by this struct."""
    return parts(record, ORDER)


def same(one: Expression, other: Expression) -> Expression:
    """Whether two records are one and the same; false if either is null."""
    return sql.coalesce((one["o"] == other["o"]) & (one["p"] == other["p"]) & (one["ts"] == other["ts"]), False)


def order_text(record: Expression) -> Expression:
    """`timestamp:partition:offset`, null for a null record."""
    return sql.when(record["o"].is_not_null(), sql.concat_ws(sql.lit(":"), *(record[name] for name in ORDER)))


class Rows:
    """Makes the rows of one query. `key` and `record` are the columns that encode() gives; `head` is the encoded key."""

    def __init__(self, plan: QueryPlan, topics: Mapping[str, str]) -> None:
        self.plan = plan
        self.topics = topics

    @property
    def kept(self) -> tuple[str, ...]:
        """What is kept of a record to make rows from it later."""
        return (*ORDER, *body_names(self.plan))

    def loose(self, record: Expression) -> Iterator[Expression]:
        """The rows of a record that need no other one, as arrays: of plain tables, of the dead letters, of a mark."""
        for table in self.plan.tables:
            if isinstance(table, SourceTable) and table.key is None:
                yield sql.when(self.is_from(table.source, record), sql.array(self.plain(table, record)))
        yield sql.when(self.is_dead_letter(record), sql.array(self.dead_letter(record)))
        yield sql.when(record["input"] == MARK, sql.array(self.mark(record)))

    def is_from(self, source: str, record: Expression) -> Expression:
        """Whether it is a good record of the source."""
        return (record["input"] == self.plan.index(source)) & record["reason"].is_null()

    def plain(self, table: SourceTable, record: Expression) -> Expression:
        return self._row(table.name, _row_id(record), _value(record["head"], record["body0"]), order_text(record))

    def keyed(self, table: SourceTable, head: Expression, newest: Expression, first: Expression) -> Expression:
        return self._row(table.name, sql.col("key"), _value(head, newest["body0"]), order_text(newest), order_text(first))

    def joined(self, table: JoinTable, head: Expression, left: Expression, right: Expression, first: Expression | None = None) -> Expression:
        """`first` is the key's first left record, for a table that keeps the last of each key."""
        names = right_names(table)
        number = bodies_of(self.plan, self.plan.index(table.right)).index(names)
        body = sql.when(right["o"].is_null(), null_body(names)).otherwise(right[f"body{number}"])
        version = sql.concat_ws(sql.lit("|"), order_text(left), sql.coalesce(order_text(right), sql.lit("")))
        value = _value(head, left["body0"], body)
        if first is None:
            return self._row(table.name, _row_id(left), value, version)
        return self._row(table.name, sql.col("key"), value, version, order_text(first))

    def dead_letter(self, record: Expression) -> Expression:
        topics = sql.array(*(sql.lit(given.source.topic) for given in self.plan.inputs))
        names = sql.array(*(sql.lit(given.source.name) for given in self.plan.inputs))
        cells = sql.struct(
            sql.get(topics, record["input"]).alias("topic"),
            record["p"].cast("string").alias("partition"),
            record["o"].cast("string").alias("offset"),
            sql.date_format(sql.timestamp_millis(record["ts"]), sql.lit(DEAD_LETTER_TIME)).alias("time"),
            record["reason"],
            record["raw"],
        )
        row_id = sql.concat_ws(sql.lit("-"), sql.get(names, record["input"]), _row_id(record))
        return self._row(DEAD_LETTERS, row_id, sql.to_json(cells, {"ignoreNullFields": "false"}), order_text(record))

    def seed(self, value: Expression) -> Expression:
        return self._row(SEEDS, sql.col("key"), value, sql.lit(None).cast("string"))

    def mark(self, record: Expression) -> Expression:
        """Says that everything before a mark went in. Its id tells which mark it is."""
        return self._row(MARKS, sql.concat_ws(sql.lit("-"), record["p"], "lane"), sql.lit("{}"), order_text(record))

    def is_dead_letter(self, record: Expression) -> Expression:
        """Whether this query is the one that reports it."""
        reported = [index for index, given in enumerate(self.plan.inputs) if given.dead_letters]
        return record["reason"].is_not_null() & record["input"].is_in(reported)

    def _row(self, table: str, row_id: Expression, value: Expression, version: Expression, order: Expression | None = None) -> Expression:
        place = sql.lit(None).cast("string") if order is None else order
        return sql.struct(
            sql.lit(self.topics[table]).alias("topic"), row_id.alias("id"), value.alias("value"), version.alias("version"), place.alias("order")
        )


def _value(head: Expression, *bodies: Expression) -> Expression:
    return sql.concat(sql.lit("{"), sql.concat_ws(sql.lit(","), head, *bodies), sql.lit("}"))


def _row_id(record: Expression) -> Expression:
    return sql.concat_ws(sql.lit("-"), record["p"], record["o"])
