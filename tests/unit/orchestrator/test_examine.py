"""H3: a sample of a topic tells whether it can be the source."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.configuration import load
from tablecast.orchestrator.examine import misfit

SOURCES = load(None, {}).catalog.sources
USER = {"userId": "u", "name": "n", "email": "e", "age": 7}
ACCOUNT = {"userId": "u", "accountType": "t", "balance": 1.5}


def sample(*values: Any) -> list[bytes | None]:
    return [json.dumps(value).encode() for value in values]


def test_an_empty_topic_fits() -> None:
    assert misfit(SOURCES["users"], []) is None


def test_one_good_record_among_bad_ones_is_enough() -> None:
    assert misfit(SOURCES["users"], [b"bad", None, *sample(USER, {"userId": " "})]) is None


def test_an_absent_field_is_a_null_cell() -> None:
    assert misfit(SOURCES["users"], sample({"userId": "u", "age": None, "name": "n"})) is None
    assert misfit(SOURCES["accounts"], sample({"userId": "u", "balance": "NaN"}, {"userId": "u", "balance": 3})) is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["text"], "got b'\"text\"', expected a JSON object"),
        ([{"name": "n"}], "userId is missing or blank, expected string"),
        ([USER | {"userId": "  "}], "userId is missing or blank, expected string"),
        ([USER | {"age": "7"}], 'age is "7", expected int64'),
        ([USER | {"age": True}], "age is true, expected int64"),
        ([ACCOUNT, ACCOUNT], "none of the newest 2 records has any of name, email, age"),
    ],
)
def test_what_does_not_look_like_the_source_is_named(values: list[Any], reason: str) -> None:
    told = misfit(SOURCES["users"], sample(*values))
    assert told is not None
    assert told.startswith(reason)


@given(st.lists(st.none() | st.binary(max_size=40), max_size=5))
def test_no_sample_raises(values: list[bytes | None]) -> None:
    misfit(SOURCES["users"], values)
