"""What is made of what Deephaven's server and viewers tell. Nothing of Deephaven is fetched for these."""

import json
from collections.abc import Mapping, Sequence

import pytest

from bench.hydrate import ratio
from bench.peers.deephaven import CLIENT, SERVER, cycle_options, told
from bench.peers.deephaven_crowd import Watched, figures, wrong_viewers
from bench.peers.deephaven_viewers import Sight, differing, read_rows, read_sights
from bench.sections import fanout
from bench.sender import Sent
from bench.subject import LAST_BY_USER
from bench.trips import Span, last_rows

SPAN = Span(LAST_BY_USER, rate=10, keys=3, seconds=4, settle=1)
"""50 messages, a tenth of a second apart, of which the last 40 are measured."""
SENT = Sent([1000 + number / 10 for number in SPAN.numbers], ())
TRUTH = last_rows(SPAN)
SUM = sum(user + (account or 0) for user, account in TRUTH.values())


def sight(lag: Mapping[int, float] | float, rows: int = 3, total: int = SUM, updates: Sequence[float] = ()) -> Sight:
    """Of one who saw each message so many seconds after it was sent, or only those that are given."""
    lags = lag if isinstance(lag, Mapping) else dict.fromkeys(SPAN.numbers, lag)
    return Sight(updates, rows, total, False, {number: SENT.times[number] + late for number, late in lags.items()})


def ticks(each: float) -> list[float]:
    """Updates from long before the measured seconds until long after them."""
    return [1000.0 + count * each for count in range(round(10 / each))]


def watched(*sights: Sight) -> Watched:
    return Watched(SPAN, SENT, sights, began=1001.0, seconds=4.0, ended=1010.0, cores={"server": 0.5})


def test_what_viewers_tell_is_in_the_time_of_our_clock() -> None:
    line = {"updates": [1250.0], "lost": False, "rows": 2, "sum": 30, "numbers": [4, 9], "times": [1500.0, 2500.0]}
    first, second = read_sights(f"{json.dumps(line)}\n{json.dumps(line | {'lost': True, 'numbers': [], 'times': []})}\n", offset_ms=250.0)
    assert first == Sight([1.5], 2, 30, False, {4: 1.75, 9: 2.75})
    assert (second.lost, second.seen) == (True, {})


def test_rows_are_read_as_numbers_of_messages() -> None:
    lines = '{"userId": "u1", "name": "-1", "accountType": null}\n{"userId": "u2", "name": "4", "accountType": "7"}\n'
    assert read_rows("final_ui", lines) == {"u1": (-1, None), "u2": (4, 7)}
    assert read_rows("accounts_ui", '{"userId": "u1", "accountType": "7"}\n') == {"u1": (7, None)}


def test_rows_that_are_missing_wrong_or_too_many_are_counted() -> None:
    expected = {"a": (1, None), "b": (2, 3), "c": (4, 5)}
    assert differing(expected, expected) == 0
    assert differing({"a": (1, None), "b": (2, 9), "d": (8, None)}, expected) == 3


def test_the_truth_is_the_last_message_of_each_key_and_source() -> None:
    assert last_rows(Span(LAST_BY_USER, rate=10, keys=2, seconds=0)) == {"u0000000": (-1, None), "u0000001": (-2, None)}
    numbers = {number for row in TRUTH.values() for number in row if number is not None}
    assert {48, 49} <= numbers
    assert all(user % 2 == 0 for user, _ in TRUTH.values())
    assert all(account is None or account % 2 == 1 for _, account in TRUTH.values())


def test_viewers_that_keep_up() -> None:
    found = figures(watched(*(sight(lag, updates=ticks(each)) for lag, each in ((0.05, 0.05), (0.15, 0.1), (0.05, 0.0625)))))
    assert (found["n"], found["p50_ms"], found["p99_ms"], found["max_ms"]) == (120, 50.0, 150.0, 150.0)
    assert (found["viewers"], found["lagging"], found["lag_grows"], found["unseen"], found["lost"]) == (3, 0, False, 0, 0)
    assert (found["frames_per_second_min"], found["frames_per_second_median"]) == (10.0, 16.0)
    assert found["lag_ms_by_quarter"] == [50.0, 50.0, 50.0, 50.0]


def test_a_viewer_that_falls_behind_is_told() -> None:
    growing = sight({number: number / 10 for number in SPAN.numbers})
    found = figures(watched(growing))
    assert (found["lagging"], found["lag_grows"]) == (1, True)
    assert found["lag_ms_by_quarter"] == [1450.0, 2450.0, 3450.0, 4450.0]


def test_the_page_says_who_fell_behind_or_why_nothing_can_be_said() -> None:
    about = {"version": "1", "settings": "as it comes", "asked_viewers": 1}
    growing = figures(watched(sight({number: number / 10 for number in SPAN.numbers})))
    page = [
        "".join(fanout({"rows": 3, "rate": 10.0, "kept": {}, "peers": {"deephaven": {**about, **peer}}}))
        for peer in ({**growing, "rss_mb": 500.0}, {"failed": "no viewer came in"})
    ]
    assert "1 of 1 more than a second behind at the end, the median lag by quarters 1,450, 2,450, 3,450, 4,450 ms" in page[0]
    assert "deephaven 1 with 1 viewers: no viewer came in. as it comes." in page[1]


def test_what_a_viewer_never_got_took_at_least_until_it_was_looked_at_last() -> None:
    keys_seen_late = sight({number: 0.1 for number in SPAN.numbers if number < 44})
    found = figures(watched(keys_seen_late))
    assert found["unseen"] == 6
    assert found["max_ms"] == pytest.approx(1000 * (1010.0 - SENT.times[44]))


def test_only_a_viewer_that_has_seen_the_end_can_be_wrong() -> None:
    behind = sight({10: 0.1}, rows=1, total=0)
    assert wrong_viewers(watched(sight(0.1), behind), TRUTH) == 0
    assert wrong_viewers(watched(sight(0.1, rows=2), sight(0.1, total=SUM + 1), sight(0.1)), TRUTH) == 2


def test_both_intervals_are_lowered_and_the_page_can_say_so() -> None:
    assert cycle_options(None) == []
    assert cycle_options(10) == ["-DPeriodicUpdateGraph.targetCycleDurationMillis=10", "-Dbarrage.minUpdateInterval=1"]
    assert all(part in told(10) for part in (*cycle_options(10), SERVER.replace("==", " "), CLIENT))
    assert "once a second" in told(None)


def test_a_rate_is_compared_with_theirs_cold_and_warm() -> None:
    assert ratio({"messages_per_s": 150}, {"cold": {"messages_per_s": 100}, "warm": {"messages_per_s": 200}}) == {"cold": 1.5, "warm": 0.75}
