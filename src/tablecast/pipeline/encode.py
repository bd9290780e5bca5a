"""Encodes the columns of a source row once, as JSON text that every table reuses.

A row of a table is `{head,body}` or, joined, `{head,left body,right body}`: the head is the key column, a body holds the other
columns of one source. A row is thus put together from text that already exists and is never encoded again.
"""

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame

from tablecast.catalog import Column, ColumnType, JoinTable, Source
from tablecast.pipeline import sql
from tablecast.pipeline.normalise import TOO_LARGE
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.sql import Expression

RAW_BYTES = 4096
TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
TO_JSON = {"ignoreNullFields": "false", "timestampFormat": TIMESTAMP}

Names = tuple[tuple[str, str], ...]
"""Columns of a source with the names that they have in a table."""

Cells = Sequence[tuple[str, Expression, ColumnType]]
"""Name, value and type."""


def encode(normalised: DataFrame, plan: QueryPlan, index: int, row_bytes: int) -> DataFrame:
    """One shape for every source: `key`, `lane` and `record`, by which records are grouped and from which rows are made.

    A record without a key (a dead letter, or a source that nothing is keyed by) shares a lane with its source partition, so that
    it never waits for, nor adds to, the state of a key.
    """
    given = plan.inputs[index]
    keys: Names = ((given.key, given.key),) if given.key is not None else ()
    parts = {"head": _members(given.source, keys)} | {f"body{n}": _members(given.source, names) for n, names in enumerate(bodies_of(plan, index))}
    key = sql.col("fields")[given.key].cast("string") if given.key is not None else _no_text()
    encoded = sql.select(normalised, "ts", "p", "o", "text", "reason", key.alias("key"), *(part.alias(name) for name, part in parts.items()))
    size = sum((sql.coalesce(sql.octet_length(name), 0) for name in parts), sql.lit(0))
    checked = sql.with_columns(encoded, {"reason": sql.coalesce("reason", sql.when(size > row_bytes, TOO_LARGE))})
    valid = sql.col("reason").is_null()
    bodies = [sql.when(valid, sql.col(name)) if name in parts else _no_text() for name in body_names(plan)]
    return sql.select(
        checked,
        sql.when(valid, sql.col("key")).alias("key"),
        sql.when(~valid | sql.col("key").is_null(), sql.concat_ws(sql.lit("-"), index, "p")).alias("lane"),
        sql.struct(
            sql.lit(index).alias("input"),
            "ts",
            "p",
            "o",
            sql.when(valid, sql.col("head")).alias("head"),
            *(body.alias(name) for name, body in zip(body_names(plan), bodies, strict=True)),
            "reason",
            sql.when(~valid, _cut(sql.col("text"))).alias("raw"),
        ).alias("record"),
    )


def body_names(plan: QueryPlan) -> list[str]:
    """The fields of a record that hold encoded columns: as many as the input that is named in the most ways needs."""
    return [f"body{number}" for number in range(max(len(bodies_of(plan, index)) for index in range(len(plan.inputs))))]


def bodies_of(plan: QueryPlan, index: int) -> list[Names]:
    """The distinct ways in which the tables of a query name the columns of an input; mostly one."""
    source, key = plan.inputs[index].source, plan.inputs[index].key
    plain = tuple((column.name, column.name) for column in source.columns if column.name != key)
    found = [plain]
    for table in plan.tables:
        if isinstance(table, JoinTable) and table.right == source.name:
            found.append(right_names(table))
    return list(dict.fromkeys(found))


def right_names(table: JoinTable) -> Names:
    return tuple((joined.origin, joined.column.name) for joined in table.joined if joined.side == "right")


def null_body(names: Names) -> str | None:
    """What stands for the right side while there is none."""
    return ",".join(f'"{name}":null' for _, name in names) or None


def _no_text() -> Expression:
    return sql.lit(None).cast("string")


def _type(source: Source, name: str) -> ColumnType:
    column: Column | None = source.column(name)
    return column.type if column is not None else "string"


def _members(source: Source, names: Names) -> Expression:
    """The members of a JSON object without its braces; null where there are none.

    A text without a backslash has no string that needs escaping, so its cells are put between quotes as they are; Spark's encoder, which costs
    several times as much, sees only the others.
    """
    if not names:
        return _no_text()
    cells = [(name, sql.col("fields")[origin], _type(source, origin)) for origin, name in names]
    return sql.when(sql.col("escaped"), _escaped(cells)).otherwise(_plain(cells))


def _escaped(cells: Cells) -> Expression:
    encoded = sql.to_json(sql.struct(*((cell.cast("string") if kind == "int64" else cell).alias(name) for name, cell, kind in cells)), TO_JSON)
    return sql.substring(encoded, 2, sql.length(encoded) - 2)


def _plain(cells: Cells) -> Expression:
    members = [sql.concat(sql.lit(f"{json.dumps(name)}:"), sql.coalesce(_cell(cell, kind), sql.lit("null"))) for name, cell, kind in cells]
    return sql.concat_ws(sql.lit(","), *members)


def _cell(cell: Expression, kind: ColumnType) -> Expression:
    """int64 goes as text: a reader that knows only doubles would round it. So do NaN and the infinities, which JSON does not have."""
    if kind == "timestamp":
        return _quoted(sql.date_format(cell, sql.lit(TIMESTAMP)))
    if kind == "double":
        text = cell.cast("string")
        return sql.when(sql.isnan(cell) | cell.is_in([float("inf"), float("-inf")]), _quoted(text)).otherwise(text)
    return cell.cast("string") if kind == "boolean" else _quoted(cell.cast("string"))


def _quoted(text: Expression) -> Expression:
    return sql.concat(sql.lit('"'), text, sql.lit('"'))


def _cut(text: Expression) -> Expression:
    """At most RAW_BYTES bytes; half a character at the cut, or bytes that are no text, become replacement characters."""
    return sql.make_valid_utf8(sql.substring(text.cast("binary"), 1, RAW_BYTES).cast("string"))
