"""From a Kafka record to a typed one, or to a dead letter with its reason.

Nothing in a record may throw inside Spark: every step here is total. The value is parsed once; a second look at the
text is taken only where the first one was suspicious.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from tablecast.catalog import ColumnType, Field, Source
from tablecast.pipeline import sql
from tablecast.pipeline.sql import Expression

NOT_JSON = "not_json"
MISSING_FIELD = "missing_field"
WRONG_TYPE = "wrong_type"
NULL_KEY = "null_key"
TOO_LARGE = "too_large"
REASONS = (NOT_JSON, MISSING_FIELD, WRONG_TYPE, NULL_KEY, TOO_LARGE)

# A timestamp is read as the text that it is and cast afterwards: Spark's JSON reader would also take a bare number.
PARSED_AS: dict[ColumnType, str] = {"string": "string", "int64": "bigint", "double": "double", "boolean": "boolean", "timestamp": "string"}
JSON_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt", "allowSingleQuotes": "false"}
LONE_SURROGATE = r"(?i)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}"

BLANK = r"(?U)^\s*$"


def normalise(records: DataFrame, source: Source) -> DataFrame:
    """Columns in: value, timestamp, partition, offset, as Spark's Kafka source gives them.

    Columns out: `ts` (ms), `p`, `o`, `text` (the value as text), `escaped` (whether a backslash is in it), `fields` (a struct of the columns)
    and `reason` (null, or why the record is a dead letter; `fields` means nothing then).
    """
    text = sql.col("value").cast("string")
    # The value stands alone in a list, so that whatever follows it spoils the parse instead of being ignored.
    wrapped = sql.concat(sql.lit('{"list":['), text, sql.lit("]}"))
    parsed = sql.select(
        records,
        sql.unix_millis("timestamp").alias("ts"),
        sql.col("partition").alias("p"),
        sql.col("offset").alias("o"),
        text.alias("text"),
        sql.from_json(wrapped, sql.lit(_parsed_schema(source.fields)), JSON_OPTIONS).alias("parsed"),
    )
    values = sql.col("parsed")["list"]
    single = sql.when(sql.size(values) == 1, sql.get(values, 0))
    escaped = _has(sql.col("text"), "\\")
    corrupt = sql.col("parsed")["corrupt"].is_not_null()
    typed = sql.select(parsed, "ts", "p", "o", "text", escaped.alias("escaped"), corrupt.alias("corrupt"), single.alias("value"))
    return sql.select(
        typed,
        "ts",
        "p",
        "o",
        "text",
        "escaped",
        sql.struct(*(_typed(field).alias(field.column.name) for field in source.fields)).alias("fields"),
        _reason(source).alias("reason"),
    )


def _parsed_schema(fields: Sequence[Field]) -> str:
    value = _value_schema([(field.path, PARSED_AS[field.column.type]) for field in fields])
    return sql.struct_type([("list", f"array<{value}>"), ("corrupt", "string")])


def _value_schema(leaves: Sequence[tuple[tuple[str, ...], str]]) -> str:
    """One struct for all paths: leaves that share the beginning of their path share a struct."""
    names = list(dict.fromkeys(path[0] for path, _ in leaves))
    return sql.struct_type([(name, _member([(path[1:], kind) for path, kind in leaves if path[0] == name])) for name in names])


def _member(leaves: Sequence[tuple[tuple[str, ...], str]]) -> str:
    path, kind = leaves[0]
    return _value_schema(leaves) if path else kind


def _at(root: str, field: Field) -> Expression:
    return _member_of(sql.col(root), field)


def _member_of(root: Expression, field: Field) -> Expression:
    return reduce(lambda node, name: node[name], field.path, root)


def _typed(field: Field) -> Expression:
    value = _at("value", field)
    return sql.try_cast(value, "timestamp") if field.column.type == "timestamp" else value


def _reason(source: Source) -> Expression:
    """The first reason that holds. The order goes from the whole value to its parts."""
    text = sql.col("text")
    unfit = sql.col("corrupt") | sql.col("value").is_null()
    checks = [
        (text.is_null() | ~sql.is_valid_utf8(text), NOT_JSON),
        (sql.col("escaped") & (_has(text, "\\ud") | _has(text, "\\uD")) & _matches(_without_backslashes(text), LONE_SURROGATE), NOT_JSON),
        (unfit & sql.try_parse_json(sql.concat(sql.lit('{"value":'), text, sql.lit("}"))).is_null(), NOT_JSON),
        (unfit, WRONG_TYPE),
        *((_is_blank(_at("value", field)), NULL_KEY) for field in source.fields if field.column.name in source.keys),
        *((_at("value", field).is_null(), MISSING_FIELD) for field in source.fields if field.required),
        *((check, WRONG_TYPE) for field in source.fields for check in _disguises(field, text)),
    ]
    first, *others = checks
    return reduce(lambda so_far, check: so_far.when(*check), others, sql.when(*first))


def _has(text: Expression, part: str) -> Expression:
    return sql.contains(text, sql.lit(part))


def _matches(text: Expression, pattern: str) -> Expression:
    return sql.rlike(text, sql.lit(pattern))


def _without_backslashes(text: Expression) -> Expression:
    """Where a backslash stands for itself it escapes nothing behind it."""
    return sql.replace(text, sql.lit("\\\\"), sql.lit("  "))


def _is_blank(value: Expression) -> Expression:
    """A key that begins with a visible ASCII character is told without a regular expression, which would cost more than its parse."""
    text = value.cast("string")
    return value.is_null() | (~sql.ascii(text).between(ord("!"), ord("~")) & _matches(text, BLANK))


def _is_seen_quoted(field: Field, text: Expression) -> Expression:
    """Whether a glance at the text tells that the value is a string: its name stands there once, a quote follows it, and nothing is escaped.

    False says nothing.
    """
    name = json.dumps(field.path[-1], ensure_ascii=False)
    before, behind = (sql.substring_index(text, sql.lit(name), count) for count in (1, -1))
    once = sql.octet_length(before) + sql.octet_length(behind) + len(name.encode()) == sql.octet_length(text)
    return (sql.startswith(behind, sql.lit(':"')) | sql.startswith(behind, sql.lit(': "'))) & once & ~sql.col("escaped")


def _disguises(field: Field, text: Expression) -> Iterator[Expression]:
    """What Spark's JSON reader takes for a value of the type although it is none."""
    value = _at("value", field)
    if field.column.type in ("string", "timestamp"):
        # Any JSON value becomes text. Only a text that looks like another type, and is not seen to be a string, costs the second parse.
        kinds = sql.from_json(text, sql.lit(_value_schema([(field.path, "variant")])))
        kind = sql.schema_of_variant(_member_of(kinds, field))
        first = sql.ascii(value)
        looks_other = first.between(ord("0"), ord("9")) | first.is_in(map(ord, "-[{")) | value.is_in(["true", "false"])
        yield looks_other & ~_is_seen_quoted(field, text) & (kind != "STRING")
        # A NaN or an infinity that stands there as such becomes text with quotes around it, which a string has only by a backslash.
        yield (first == ord('"')) & (~sql.col("escaped") | ~sql.equal_null(kind, sql.lit("STRING")))
    if field.column.type == "timestamp":
        yield value.is_not_null() & sql.try_cast(value, "timestamp").is_null()
    if field.column.type == "double":
        # A number too large for a double is no infinity; that is said by its name.
        name = re.escape(json.dumps(field.path[-1], ensure_ascii=False))
        yield value.is_in([float("inf"), float("-inf")]) & ~_matches(text, rf'{name}\s*:\s*"?[-+]?Inf')
