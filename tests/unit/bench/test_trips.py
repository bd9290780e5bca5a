"""Which messages are measured, and which count as arrived."""

import json
from dataclasses import replace

import pytest

from bench.subject import SUBJECTS, message
from bench.trips import Span, with_replaced


def test_a_message_whose_row_shows_a_newer_one_of_its_key_has_arrived_too() -> None:
    keys = dict(enumerate("aabaaaab"))
    seen = {0: 1.0, 2: 3.0, 4: 5.0, 5: 6.0, 7: 9.0}
    # Accounts have odd numbers: 1 and 3 are of the key a, as 5 is, whose row was seen.
    assert with_replaced(SUBJECTS["final_ui"], keys, seen) == {**seen, 1: 6.0, 3: 6.0}


def test_in_a_table_of_all_rows_every_message_is_seen_itself() -> None:
    assert with_replaced(SUBJECTS["users_ui"], dict.fromkeys(range(3), "a"), {2: 1.0}) == {2: 1.0}


@pytest.mark.parametrize(("table", "expected"), [("users_ui", [20, 21, 22, 23]), ("final_ui", [20, 21, 22, 23]), ("user_account", [21, 23])])
def test_only_messages_that_the_table_shows_are_measured(table: str, expected: list[int]) -> None:
    span = Span(SUBJECTS[table], rate=2, keys=10, seconds=2, settle=10)
    assert span.measured == expected
    assert replace(span, first=100).measured == [100 + number for number in expected]


def test_a_span_ends_with_a_whole_round_of_its_sources() -> None:
    assert Span(SUBJECTS["final_ui"], rate=3, keys=10, seconds=1).numbers == range(4)


def test_one_end_of_a_table_shows_the_messages_of_its_first_source() -> None:
    assert SUBJECTS["final_ui"].at_its_end().measured(range(4)) == [0, 2]
    assert SUBJECTS["users_ui"].at_its_end() is SUBJECTS["users_ui"]


def test_a_message_carries_its_number_where_the_tables_show_it() -> None:
    assert json.loads(message("users", 12, "u1"))["name"] == "12"
    assert json.loads(message("accounts", 13, "u1")) == {"userId": "u1", "accountType": "13", "balance": 13}
