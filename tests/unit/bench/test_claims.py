"""What was to be shown, from what was found."""

from typing import Any

import pytest

from bench.claims import MAKERS, lines

PEER = {"p50_ratio": 2.0, "p99_ratio": 0.9, "all_p99_ratio": 0.1, "all_p99_ms": 60.0}
PEERS = {"pause_ms": 700.0, "peers": {"deephaven-10ms": PEER, "deephaven": PEER | {"p50_ratio": 100.0, "p99_ratio": 20.0}}}
QUIET = {"p99_ms": 50.0}
BEHIND = {"p99_ms": 5000.0, "lagging": 150, "viewers": 200}
HOSTILE = {"quiet": QUIET, "hostile": {"p99_ms": 90.0}, "afterwards": QUIET}


def told_of(part: str, found: Any) -> str:
    return "\n".join(lines({part: {"found": found, "seconds": 60.0}}))


def test_a_ratio_is_beside_its_bar_and_what_is_not_kept_is_said() -> None:
    page = told_of("latency-peers", {**PEERS, "twin": {"all_p99_ms": 30.0}})
    assert "| To a WebSocket client beside Deephaven with cycles of 10 ms, p50 | 2 times | at least 1 times | kept |" in page
    assert "| To a WebSocket client beside Deephaven with cycles of 10 ms, p99 | 0.9 times | at least 1 times | **not kept** |" in page
    assert "| To a WebSocket client beside Deephaven as it comes, p99 | 20 times | at least 20 times | kept |" in page
    assert "10 ms, p99 with our pauses | 0.1 times |  | told |" in page
    assert "10 ms, p99 with the pauses of a twin | 2 times | at least 1 times | kept |" in page
    assert "as it comes, p99 with the pauses of a twin | 2 times | at least 20 times | **not kept** |" in page
    assert "5 of 7 bars were kept" in page


def test_a_pause_that_did_not_come_is_not_kept() -> None:
    assert "| Pause at a checkpoint | – ms | under 1,000 ms | **not kept** |" in told_of("latency-peers", PEERS | {"pause_ms": None})


@pytest.mark.parametrize(
    ("peer", "verdict"),
    [(BEHIND, "kept"), (BEHIND | {"lagging": 100}, "**not kept**"), ({"failed": "no viewer came in"}, "**not kept**")],
)
def test_a_peer_breaks_down_where_most_of_its_viewers_are_late(peer: dict[str, Any], verdict: str) -> None:
    page = told_of("fanout", {"hostile": HOSTILE, "peers": {"deephaven": peer}})
    (line,) = [line for line in page.splitlines() if "breaks down" in line]
    assert line.endswith(f"| {verdict} |")


def test_a_part_without_a_result_keeps_nothing_and_one_that_was_not_run_is_not_told() -> None:
    assert "| All of the part idle | it ended without a result |  | **not kept** |" in told_of("idle", None)
    assert "0 of 0 bars" in "\n".join(lines({}))


def test_all_of_it_has_half_an_hour() -> None:
    results = {name: {"found": None, "seconds": 200.0} for name in MAKERS}
    assert f"| All of it | {len(MAKERS) * 200 / 60:.3g} minutes | under 30 minutes | **not kept** |" in "\n".join(lines(results))
