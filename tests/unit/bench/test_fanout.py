"""The figures of bench.fanout, its cheap client, and what it calls kept."""

from typing import Any

import pytest

from bench.audience import Heard
from bench.fanout import SORTS, WINDOW, bars, beside, different_looks, figures
from bench.hostile import sorts
from bench.tally import STEP_MS, STEPS, Tally
from bench.wire_client import masked, next_message


def tally_of(*ms: float) -> Tally:
    tally = Tally()
    for one in ms:
        tally.take(one / 1000)
    return tally


def test_a_tally_gives_percentiles_to_half_a_millisecond() -> None:
    tally = tally_of(*range(100))
    assert tally.summary() == {"n": 100, "p50_ms": 49.5, "p90_ms": 89.5, "p99_ms": 98.5, "max_ms": 99.5}
    assert tally_of(3.2).percentile(99) == 3.5
    assert tally_of().summary() == {"n": 0, "p50_ms": None, "p90_ms": None, "p99_ms": None, "max_ms": None}
    assert Tally(tally.counts).summary() == tally.summary()


def test_what_is_out_of_its_range_is_counted_at_its_ends() -> None:
    assert tally_of(-5.0).percentile(100) == STEP_MS
    assert tally_of(10**9).percentile(100) == (STEPS + 1) * STEP_MS


def test_the_slowest_viewer_counts() -> None:
    heard = Heard(tally_of(10, 20).counts, [100, 20, 60], 10.0, 5.0, 1, 0, 2.5)
    found = figures(heard)
    assert (found["frames_per_second_min"], found["frames_per_second_median"], found["viewers"]) == (2.0, 6.0, 3)
    assert (found["megabytes_per_second"], found["audience_cores"], found["max_ms"]) == (0.5, 0.25, 20.5)


def test_the_windows_are_all_different_over_twenty_sorts() -> None:
    looks = different_looks(200, 20_000)
    assert len({(look.offset, look.sort) for look in looks}) == 200
    assert len({look.sort for look in looks}) == SORTS
    assert max(look.offset for look in looks) == 9 * WINDOW
    assert len(set(sorts(50))) == 50


CROWD = {"frames_per_second_min": 12.0, "p99_ms": 100.0, "server_cores": 0.5, "lost": 0}
DONE: dict[str, Any] = {"deeds": {"flaps": 1, "flood_messages": 1, "sorts": 1, "stalled_connections": 1}, "stalled": 1.0, "refused_floods": 1.0}
SPANS = {"quiet": {"p99_ms": 10.0}, "hostile": {"p99_ms": 20.0, "lost": 0}, "afterwards": {"p99_ms": 11.0}}
HOSTILE = {**SPANS, "rss_before_mb": 100.0, "rss_after_mb": 109.0, **DONE}


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        ({"crowd": CROWD, "views": {"p99_ms": 249.5}, "hostile": HOSTILE}, set()),
        ({"crowd": CROWD | {"frames_per_second_min": 9.9}}, {"crowd_frames"}),
        ({"crowd": CROWD | {"p99_ms": None}}, {"crowd_p99"}),
        ({"crowd": CROWD | {"server_cores": 1.0}}, {"crowd_cores"}),
        ({"crowd": CROWD | {"lost": 1}}, {"crowd_nobody_lost"}),
        ({"growth": [CROWD, CROWD | {"lost": 1}]}, {"growth_nobody_lost"}),
        ({"views": {"p99_ms": 250.0}}, {"views_p99"}),
        ({"hostile": HOSTILE | {"hostile": {"p99_ms": 20.5, "lost": 1}}}, {"hostile_p99", "hostile_nobody_lost"}),
        ({"hostile": HOSTILE | {"afterwards": {"p99_ms": 9.0}}}, {"hostile_p99"}),
        ({"hostile": HOSTILE | {"afterwards": {"p99_ms": None}}}, {"hostile_p99"}),
        ({"hostile": HOSTILE | {"rss_after_mb": 111.0}}, {"hostile_memory"}),
        ({"hostile": HOSTILE | {"stalled": None}}, {"hostile_happened"}),
        ({"hostile": HOSTILE | {"deeds": {**DONE["deeds"], "flaps": 0}}}, {"hostile_happened"}),
        ({"build": {"p99_ms": 250.0}}, {"build_p99"}),
        ({"peers": {"deephaven": {"wrong": 0, "wrong_viewers": 0}}}, set()),
        ({"peers": {"deephaven": {"wrong": 0, "wrong_viewers": 1}}}, {"deephaven_right"}),
        ({"peers": {"deephaven": {"failed": "it ended"}}}, {"deephaven_right"}),
    ],
)
def test_a_bar_is_kept_or_not(found: dict[str, Any], missed: set[str]) -> None:
    assert {name for name, kept in bars(found).items() if not kept} == missed


def test_a_peer_is_compared_with_as_many_undisturbed_viewers_of_ours() -> None:
    found = {"hostile": {"quiet": {"p50_ms": 5.0, "p99_ms": 50.0}}}
    assert beside(found, {"p50_ms": 100.0, "p99_ms": 200.0}) == {"p50_ms": 100.0, "p99_ms": 200.0, "p50_ratio": 20.0, "p99_ratio": 4.0}
    assert beside(found, {"failed": "it ended"}) == {"failed": "it ended"}
    assert beside({}, {"p50_ms": 100.0, "p99_ms": 200.0}) == {"p50_ms": 100.0, "p99_ms": 200.0}


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 100_000])
def test_messages_are_read_as_they_are_framed(size: int) -> None:
    payload = b"x" * size
    head = masked(1, payload)[: -size - 4] if size else masked(1, payload)[:-4]
    sent = bytes((head[0], head[1] & 0x7F)) + head[2:] + payload
    assert next_message(b"??" + sent + b"more", 2) == (1, 2 + len(head), 2 + len(sent))
    assert next_message(sent[:-1] if size else sent[:1], 0) is None
