"""H3: a sample of a topic tells whether it can be the source."""

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError
from hypothesis import given
from hypothesis import strategies as st

from tablecast.configuration import load
from tablecast.errors import TablecastError, TopicForbidden, TopicMissing
from tablecast.orchestrator import examine as module
from tablecast.orchestrator.control import Rejection
from tablecast.orchestrator.examine import examine, misfit
from tablecast.settings import Settings

CATALOG = load(None, {}).catalog
SOURCES = CATALOG.sources
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


class ScriptedTopics:
    """A Kafka whose topics have two records each, or raise what the test says."""

    def __init__(self, trouble: dict[str, TablecastError]) -> None:
        self.kafka = Settings().kafka
        self._trouble = trouble

    def check_readable(self, topic: str) -> None:
        if topic in self._trouble:
            raise self._trouble[topic]

    def end_offsets(self, topic: str) -> dict[int, int]:
        return {0: 2}

    def begin_offsets(self, topic: str) -> dict[int, int]:
        return {0: 0}


class ScriptedConsumer:
    """Gives the records of a topic; nothing of one that the test does not know."""

    def __init__(self, records: dict[str, list[bytes]]) -> None:
        self._records = records
        self._left: list[tuple[int, bytes | None]] = []

    def assign(self, places: list[Any]) -> None:
        self._left = list(enumerate(self._records.get(places[0].topic, ())))
        self._left += [(2, None)] if places[0].topic in self._records else []

    def poll(self, _: float) -> object | None:
        if not self._left:
            return None
        offset, value = self._left.pop(0)
        error = KafkaError(KafkaError._PARTITION_EOF) if value is None else None
        return SimpleNamespace(error=lambda: error, partition=lambda: 0, offset=lambda: offset, value=lambda: value)

    def close(self) -> None:
        """Nothing is open."""


Kafka = tuple[dict[str, list[bytes]], dict[str, TablecastError]]


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    """The records of each topic, and the trouble with it."""
    records = {"users": [json.dumps(USER).encode()] * 2, "accounts": [json.dumps(ACCOUNT).encode()] * 2}
    trouble: dict[str, TablecastError] = {}
    monkeypatch.setattr(module, "Topics", lambda *_: ScriptedTopics(trouble))
    monkeypatch.setattr(module, "make_consumer", lambda *_: ScriptedConsumer(records))
    return records, trouble


def examined(seconds: float = 10.0) -> str | None:
    found = examine(CATALOG, Settings().kafka, seconds)
    return found.reason if isinstance(found, Rejection) else None


def test_topics_of_the_declared_shape_are_accepted(kafka: Kafka) -> None:
    assert examined() is None


def test_a_topic_of_another_shape_is_refused(kafka: Kafka) -> None:
    kafka[0]["accounts"] = kafka[0]["users"]
    assert (examined() or "").startswith("the topic 'accounts' does not look like accounts: none of the newest 2 records has any of accountType")


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (TopicMissing("accounts", "here:9092"), "accounts: There is no topic 'accounts' on the Kafka at here:9092."),
        (TopicForbidden("accounts", "here:9092"), "accounts: These credentials may not read the topic 'accounts'"),
    ],
)
def test_a_topic_that_is_not_there_or_that_we_may_not_read_is_refused(kafka: Kafka, trouble: TablecastError, reason: str) -> None:
    kafka[1]["accounts"] = trouble
    assert (examined() or "").startswith(reason)


def test_offsets_without_records_are_an_empty_topic(kafka: Kafka) -> None:
    kafka[0]["users"] = []
    assert examined() is None


def test_a_topic_whose_records_do_not_come_is_refused_in_time(kafka: Kafka) -> None:
    del kafka[0]["users"]
    begun = time.monotonic()
    assert "no record of 'users' came in time" in (examined(0.05) or "")
    assert time.monotonic() - begun < 5
