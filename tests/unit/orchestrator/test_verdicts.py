"""control_raw: each message has its row, the rows are bounded, and after a restart reading goes on at the first message without a verdict."""

import json
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.control import CONTROL_ROWS, ID_HEADER, MOST_ID
from tablecast.kafka.status import GenerationStatus, State
from tablecast.orchestrator.ledger import Record
from tablecast.orchestrator.system_tables import VersionClock, status_cells
from tablecast.orchestrator.verdicts import LOST, SHOWN_TEXT, Answer, Letter, Verdicts, letter_of
from tablecast.tables.version import supersedes

AT = "2026-01-01T00:00:00.000Z"
TOPIC = "id of the control topic"


@dataclass
class Written:
    """A record as a reader gets it."""

    record: Record

    def key(self) -> bytes | None:
        return self.record.key

    def value(self) -> bytes | None:
        return self.record.value

    def headers(self) -> list[tuple[str, bytes]]:
        return list(self.record.headers)


def letter(offset: int, value: bytes = b"{}") -> Letter:
    return Letter((0, offset), f"0-{offset}", 1_700_000_000_000 + offset, value)


def recalled(records: list[Record]) -> Verdicts:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    verdicts.recall(Written(record) for record in records)  # type: ignore[misc]
    return verdicts


def test_a_later_verdict_supersedes_the_first_and_keeps_the_row_in_its_place() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    (pending,) = verdicts.records([Answer(letter(3), "pending")])
    (applied,) = verdicts.records([Answer(letter(3), "applied", None, 7)])
    first, second = dict(pending.headers)[VERSION_HEADER], dict(applied.headers)[VERSION_HEADER]
    assert supersedes(second, first)
    assert first.partition(b"|")[0] == second.partition(b"|")[0] == b"1700000000003:0:3"
    assert json.loads(applied.value or b"") == {
        "id": "0-3",
        "received": "2023-11-14T22:13:20.003000Z",
        "text": "{}",
        "verdict": "applied",
        "reason": None,
        "generation": "7",
    }


def test_the_text_is_cut_and_always_text() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    (record,) = verdicts.records([Answer(letter(1, b"\xff" * 10_000), "rejected", "no")])
    assert len(json.loads(record.value or b"")["text"]) == SHOWN_TEXT


def test_reading_goes_on_at_the_first_message_without_a_verdict() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    assert verdicts.next_places() == {}
    answers = [Answer(letter(4), "applied"), Answer(letter(5), "pending"), Answer(letter(6), "rejected", "no")]
    again = recalled(verdicts.records(answers))
    assert again.next_places() == {0: 5}
    assert [again.answered((0, offset)) for offset in (4, 5, 6, 7)] == [True, False, True, False]
    again.records([Answer(letter(5), "superseded")])
    assert again.next_places() == {0: 7}


def test_the_oldest_rows_go_and_those_that_wait_stay() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    written = verdicts.records([Answer(letter(0), "pending")])
    written += verdicts.records([Answer(letter(offset), "rejected", "no") for offset in range(1, CONTROL_ROWS + 11)])
    gone = [record for record in written if record.value is None]
    assert [record.key for record in gone] == [f"0-{offset}".encode() for offset in range(1, 12)]
    known = {record.key: dict(record.headers)[VERSION_HEADER] for record in written if record.value is not None}
    assert all(supersedes(dict(record.headers)[VERSION_HEADER], known[record.key]) for record in gone)
    assert recalled(written).next_places() == {0: 0}


def test_what_stands_before_the_oldest_row_is_needed_by_nobody() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    assert verdicts.first_places() == {}
    verdicts.records([Answer(letter(offset), "rejected", "no") for offset in range(5, CONTROL_ROWS + 8)])
    assert verdicts.first_places() == {0: 8}


def test_an_id_that_was_given_twice_names_the_first_and_the_other_is_called_by_its_place() -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    first, second = (replace(letter(offset), id="twice") for offset in (3, 4))
    called = [verdicts.called(given) for given in (first, second)]
    assert [given.id for given in called] == ["twice", "0-4"]
    again = recalled(verdicts.records([Answer(given, "pending") for given in called]))
    assert [again.called(given).id for given in (first, second)] == ["twice", "0-4"]
    assert again.next_places() == {0: 3}


def test_a_control_topic_that_was_created_anew_begins_anew_and_nobody_waits_for_ever() -> None:
    before = Verdicts("t", VersionClock(), "id of another topic")
    written = before.records([Answer(letter(3), "applied", None, 7), Answer(letter(4), "pending")])
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    (lost,) = verdicts.recall(cast("Any", [Written(record) for record in written]))
    assert (lost.key, json.loads(lost.value or b"")["reason"]) == (b"0-4", LOST)
    assert supersedes(dict(lost.headers)[VERSION_HEADER], dict(written[1].headers)[VERSION_HEADER])
    assert (verdicts.next_places(), verdicts.first_places()) == ({}, {})
    assert not verdicts.answered((0, 3))
    again = Verdicts("t", VersionClock(), TOPIC)
    assert again.recall(cast("Any", [Written(record) for record in (*written, lost)])) == []


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(["pending", "applied", "rejected"])), max_size=40))
def test_what_is_recalled_is_what_was_known(steps: list[tuple[int, str]]) -> None:
    verdicts = Verdicts("t", VersionClock(), TOPIC)
    written = [record for offset, verdict in steps for record in verdicts.records([Answer(letter(offset), verdict)])]  # type: ignore[arg-type]
    again = recalled(written)
    assert again.next_places() == verdicts.next_places()
    assert all(again.answered((0, offset)) == verdicts.answered((0, offset)) for offset in range(21))


def test_versions_never_go_back_after_a_restart_on_a_machine_whose_clock_does() -> None:
    clock = VersionClock()
    future = Record("t", b"k", b"{}", ((VERSION_HEADER, b"99999999999999:0:0|99999999999999:0:0"),))
    clock.saw(Written(future))  # type: ignore[arg-type]
    assert clock.next() > 99999999999999


def status(number: int, state: State, **facts: object) -> GenerationStatus:
    return GenerationStatus(number, state, {"users": f"u{number}"}, {}, {}, "f", AT, join={"final_ui": "inner"}, **facts)  # type: ignore[arg-type]


def test_the_row_of_orchestrator_status_tells_what_is_live_and_what_is_made() -> None:
    generations = {1: status(1, "live", ends={"a": 3, "b": 4}, hydrated=1.5), 2: status(2, "failed"), 3: status(3, "hydrating")}
    assert status_cells(generations, "generation 2: no") == {
        "usersTopic": "u1",
        "joinType": "inner",
        "lastApplied": "2026-01-01T00:00:00.000000Z",
        "generation": "1",
        "state": "hydrating",
        "building": "3",
        "rows": "7",
        "hydrationSeconds": 1.5,
        "lastError": "generation 2: no",
    }
    assert status_cells({}, None)["state"] is None


def message(timestamp: int, id: bytes = b"", value: bytes | None = b"{}") -> Message:
    told = {"partition": 0, "offset": 5, "timestamp": (1, timestamp), "headers": [(ID_HEADER, id)], "value": value}
    return cast("Message", SimpleNamespace(**{name: lambda got=got: got for name, got in told.items()}))


@pytest.mark.parametrize("timestamp", [-1, 0, 253_402_300_800_000, 2**63 - 1])
def test_a_message_of_any_time_has_its_verdict(timestamp: int) -> None:
    (record,) = Verdicts("t", VersionClock(), TOPIC).records([Answer(letter_of(message(timestamp)), "rejected", "no")])
    assert json.loads(record.value or b"")["received"][:4] in ("1970", "9999")


def test_an_id_of_anything_names_its_row() -> None:
    for id in (b"\xff\xfe", b"\n[orchestrator] ready", b"x" * 10_000, "\u202e".encode()):
        (record,) = Verdicts("t", VersionClock(), TOPIC).records([Answer(letter_of(message(0, id)), "rejected", "no")])
        key = record.key or b""
        assert key == json.loads(record.value or b"")["id"].encode()
        assert len(key) <= 4 * MOST_ID


def test_a_large_message_waits_as_what_is_told_of_it() -> None:
    large = Letter((0, 1), "m", 0, "ä".encode() * 1_000_000)
    assert large.shortened().text == large.text
    assert len(large.shortened().value or b"") <= 4 * SHOWN_TEXT
    assert Letter((0, 1), "m", 0, None).shortened().text == ""
