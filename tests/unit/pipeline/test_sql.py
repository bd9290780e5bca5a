"""Expressions as text. That Spark understands them is shown wherever a plan runs."""

import math

import pytest

from tablecast.pipeline import sql
from tablecast.pipeline.sql import Expression


def same_text(expression: Expression, text: str) -> None:
    assert str(expression) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "'plain'"),
        ("it's", r"'it\'s'"),
        ("a\\b", r"'a\\b'"),
        ("${spark.app.name}", r"'\u0024{spark.app.name}'"),
        (None, "NULL"),
        (True, "true"),
        (-2, "-2"),
        (1.5, "CAST('1.5' AS DOUBLE)"),
        (-math.inf, "CAST('-inf' AS DOUBLE)"),
        (math.nan, "CAST('nan' AS DOUBLE)"),
    ],
)
def test_a_literal_is_what_it_says_whatever_it_holds(value: object, text: str) -> None:
    same_text(sql.lit(value), text)


def test_what_has_no_literal_is_refused() -> None:
    with pytest.raises(TypeError, match="a literal is to be a text, a number, a truth value or None, not b'bytes'"):
        sql.lit(b"bytes")


def test_a_name_is_quoted() -> None:
    same_text(sql.col("a`b").alias("c d"), "`a``b` AS `c d`")


def test_conditions_keep_their_order() -> None:
    record = sql.col("record")
    same_text(
        (record["input"] == 1) & ~(record["o"] > 2) | record["reason"].is_null(),
        "(((`record`['input'] = 1) AND (NOT (`record`['o'] > 2))) OR (`record`['reason'] IS NULL))",
    )


def test_arguments_are_columns_literals_maps_and_expressions() -> None:
    same_text(
        sql.to_json(sql.struct("a", sql.get("b", 0).alias("c")), {"ignoreNullFields": "false"}),
        "to_json(named_struct('a', `a`, 'c', get(`b`, 0)), map('ignoreNullFields', 'false'))",
    )


def test_nothing_is_among_none() -> None:
    same_text(sql.col("a").is_in([1, 2]), "(`a` IN (1, 2))")
    same_text(sql.col("a").is_in([]), "false")


def test_a_case_is_null_or_what_it_says_otherwise() -> None:
    first = sql.when(sql.col("a") == 1, "one")
    same_text(first, "CASE WHEN (`a` = 1) THEN 'one' END")
    same_text(first.when(sql.col("a") == 2, sql.col("b")).otherwise(None), "CASE WHEN (`a` = 1) THEN 'one' WHEN (`a` = 2) THEN `b` ELSE NULL END")


def test_no_variable_of_a_lambda_hides_that_of_another() -> None:
    def within(outer: Expression) -> Expression:
        return sql.exists("others", lambda inner: inner["ts"] <= outer["ts"])

    same_text(sql.filter("rows", within), "filter(`rows`, x0_0 -> exists(`others`, x1_0 -> (x1_0['ts'] <= x0_0['ts'])))")


def test_a_lambda_of_two_has_both_in_brackets() -> None:
    same_text(sql.aggregate("a", 0, lambda so_far, each: so_far + each), "aggregate(`a`, 0, (x0_0, x0_1) -> (x0_0 + x0_1))")


def test_a_lambda_that_fails_leaves_no_depth_behind() -> None:
    def fails(_: Expression) -> Expression:
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        sql.filter("a", fails)
    same_text(sql.filter("a", lambda each: each > 0), "filter(`a`, x0_0 -> (x0_0 > 0))")


def test_the_type_of_a_struct() -> None:
    assert sql.struct_type([("a b", "bigint"), ("c", "array<string>")]) == "struct<`a b`: bigint, `c`: array<string>>"
