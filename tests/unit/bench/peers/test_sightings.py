"""What counts as seen, and as shown last."""

import pytest

from bench.peers.sightings import Sightings


def test_a_message_is_seen_when_a_row_first_shows_its_number() -> None:
    seen = Sightings()
    seen.take([("u1", "-1", None), ("u2", "-2", None)], 1.0)
    seen.take([("u1", "4", None)], 2.0)
    seen.heard({"at": 3.5, "rows": [["u1", "4", "7"]]})
    assert seen.first_seen() == {-1: 1.0, -2: 1.0, 4: 2.0, 7: 3.5}
    assert seen.count() == 4
    assert seen.rows() == {"u1": (4, 7), "u2": (-2, None)}


def test_the_last_of_two_rows_of_a_user_is_its_state() -> None:
    seen = Sightings()
    seen.take([("u1", "4", "7"), ("u1", "6", "9")], 1.0)
    assert seen.rows() == {"u1": (6, 9)}


def test_what_was_read_does_not_change_any_more() -> None:
    seen = Sightings()
    before = seen.rows(), seen.first_seen()
    seen.take([("u1", "4", None)], 1.0)
    assert before == ({}, {})


def test_a_message_that_is_not_shown_in_time_is_named() -> None:
    seen = Sightings()
    seen.take([("u1", "4", None)], 1.0)
    seen.wait_for(4, 0)
    with pytest.raises(TimeoutError, match=r"message 5 was not shown within 0 s; 1 others were"):
        seen.wait_for(5, 0)
