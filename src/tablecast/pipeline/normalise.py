"""From a Kafka record to a typed one, or to a dead letter with its reason.

Nothing in a record may throw inside Spark: every step here is total. The value is parsed once; a second look at the
text is taken only where the first one was suspicious.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, DataType, DoubleType, LongType, StringType, StructField, StructType, VariantType

from tablecast.catalog import ColumnType, Field, Source

NOT_JSON = "not_json"
MISSING_FIELD = "missing_field"
WRONG_TYPE = "wrong_type"
NULL_KEY = "null_key"
TOO_LARGE = "too_large"
REASONS = (NOT_JSON, MISSING_FIELD, WRONG_TYPE, NULL_KEY, TOO_LARGE)

# A timestamp is read as the text that it is and cast afterwards: Spark's JSON reader would also take a bare number.
PARSED_AS: dict[ColumnType, type[DataType]] = {
    "string": StringType,
    "int64": LongType,
    "double": DoubleType,
    "boolean": BooleanType,
    "timestamp": StringType,
}
JSON_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt", "allowSingleQuotes": "false"}
LONE_SURROGATE = r"(?i)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}"

BLANK = r"(?U)^\s*$"


def normalise(records: DataFrame, source: Source) -> DataFrame:
    """Columns in: value, timestamp, partition, offset, as Spark's Kafka source gives them.

    Columns out: `ts` (ms), `p`, `o`, `text` (the value as text), `escaped` (whether a backslash is in it), `fields` (a struct of the columns)
    and `reason` (null, or why the record is a dead letter; `fields` means nothing then).
    """
    text = F.col("value").cast("string")
    # The value stands alone in a list, so that whatever follows it spoils the parse instead of being ignored.
    wrapped = F.concat(F.lit('{"list":['), text, F.lit("]}"))
    parsed = records.select(
        F.unix_millis("timestamp").alias("ts"),
        F.col("partition").alias("p"),
        F.col("offset").alias("o"),
        text.alias("text"),
        F.from_json(wrapped, _parsed_schema(source.fields, PARSED_AS), JSON_OPTIONS).alias("parsed"),
    )
    single = F.when(F.size("parsed.list") == 1, F.get("parsed.list", F.lit(0)))
    escaped = F.col("text").contains("\\")
    corrupt = F.col("parsed.corrupt").isNotNull()
    typed = parsed.select("ts", "p", "o", "text", escaped.alias("escaped"), corrupt.alias("corrupt"), single.alias("value"))
    return typed.select(
        "ts",
        "p",
        "o",
        "text",
        "escaped",
        F.struct(*(_typed(field).alias(field.column.name) for field in source.fields)).alias("fields"),
        _reason(source).alias("reason"),
    )


def _parsed_schema(fields: Sequence[Field], types: dict[ColumnType, type[DataType]]) -> StructType:
    value = _value_schema([(field.path, types[field.column.type]()) for field in fields])
    return StructType([StructField("list", ArrayType(value)), StructField("corrupt", StringType())])


def _value_schema(leaves: Sequence[tuple[tuple[str, ...], DataType]]) -> StructType:
    """One struct for all paths: leaves that share the beginning of their path share a struct."""
    names = list(dict.fromkeys(path[0] for path, _ in leaves))
    return StructType([StructField(name, _member([(path[1:], kind) for path, kind in leaves if path[0] == name])) for name in names])


def _member(leaves: Sequence[tuple[tuple[str, ...], DataType]]) -> DataType:
    path, kind = leaves[0]
    return _value_schema(leaves) if path else kind


def _at(root: str, field: Field) -> Expression:
    return reduce(lambda node, name: node.getField(name), field.path, F.col(root))


def _typed(field: Field) -> Expression:
    value = _at("value", field)
    return value.try_cast("timestamp") if field.column.type == "timestamp" else value


def _reason(source: Source) -> Expression:
    """The first reason that holds. The order goes from the whole value to its parts."""
    text = F.col("text")
    unfit = F.col("corrupt") | F.col("value").isNull()
    checks = [
        (text.isNull() | ~F.is_valid_utf8(text), NOT_JSON),
        (F.col("escaped") & (text.contains("\\ud") | text.contains("\\uD")) & _without_backslashes(text).rlike(LONE_SURROGATE), NOT_JSON),
        (unfit & F.try_parse_json(F.concat(F.lit('{"value":'), text, F.lit("}"))).isNull(), NOT_JSON),
        (unfit, WRONG_TYPE),
        *((_is_blank(_at("value", field)), NULL_KEY) for field in source.fields if field.column.name in source.keys),
        *((_at("value", field).isNull(), MISSING_FIELD) for field in source.fields if field.required),
        *((check, WRONG_TYPE) for field in source.fields for check in _disguises(field, text)),
    ]
    first, *others = checks
    return reduce(lambda so_far, check: so_far.when(*_literal(check)), others, F.when(*_literal(first)))


def _literal(check: tuple[Expression, str]) -> tuple[Expression, Expression]:
    return check[0], F.lit(check[1])


def _without_backslashes(text: Expression) -> Expression:
    """Where a backslash stands for itself it escapes nothing behind it."""
    return F.replace(text, F.lit("\\\\"), F.lit("  "))


def _is_blank(value: Expression) -> Expression:
    """A key that begins with a visible ASCII character is told without a regular expression, which would cost more than its parse."""
    text = value.cast("string")
    return value.isNull() | (~F.ascii(text).between(ord("!"), ord("~")) & text.rlike(BLANK))


def _is_seen_quoted(field: Field, text: Expression) -> Expression:
    """Whether a glance at the text tells that the value is a string: its name stands there once, a quote follows it, and nothing is escaped.

    False says nothing.
    """
    name = json.dumps(field.path[-1], ensure_ascii=False)
    before, behind = (F.substring_index(text, name, count) for count in (1, -1))
    once = F.octet_length(before) + F.octet_length(behind) + len(name.encode()) == F.octet_length(text)
    return (behind.startswith(':"') | behind.startswith(': "')) & once & ~F.col("escaped")


def _disguises(field: Field, text: Expression) -> Iterator[Expression]:
    """What Spark's JSON reader takes for a value of the type although it is none."""
    value = _at("value", field)
    if field.column.type in ("string", "timestamp"):
        # Any JSON value becomes text. Only a text that looks like another type, and is not seen to be a string, costs the second parse.
        kinds = F.from_json(text, _value_schema([(field.path, VariantType())]))
        kind = F.schema_of_variant(reduce(lambda node, name: node.getField(name), field.path, kinds))
        first = F.ascii(value)
        looks_other = first.between(ord("0"), ord("9")) | first.isin(*map(ord, "-[{")) | value.isin("true", "false")
        yield looks_other & ~_is_seen_quoted(field, text) & (kind != "STRING")
        # A NaN or an infinity that stands there as such becomes text with quotes around it, which a string has only by a backslash.
        yield (first == ord('"')) & (~F.col("escaped") | ~kind.eqNullSafe("STRING"))
    if field.column.type == "timestamp":
        yield value.isNotNull() & value.try_cast("timestamp").isNull()
    if field.column.type == "double":
        # A number too large for a double is no infinity; that is said by its name.
        name = re.escape(json.dumps(field.path[-1], ensure_ascii=False))
        yield value.isin(float("inf"), float("-inf")) & ~text.rlike(rf'{name}\s*:\s*"?[-+]?Inf')
