"""What bench.latency makes of what it is asked and of what it found."""

from typing import Any

import pytest

from bench.latency import _parser, compared, kept, options_of
from bench.peers import beside
from bench.trips import Rows, Span, last_rows

PEERED = "--table final_ui --to websocket --load small --seconds 24"


def options(arguments: str) -> Any:
    parser = _parser()
    return options_of(parser, parser.parse_args(arguments.split()))


@pytest.mark.parametrize(("given", "seconds"), [("", 24.0), ("--peer-seconds 10", 10.0)])
def test_peers_have_no_checkpoint_to_wait_for(given: str, seconds: float) -> None:
    assert options(f"{PEERED} {given}").for_peers.seconds == seconds
    assert options(PEERED).comparable


@pytest.mark.parametrize("asked", ["--to painted", "--to websocket", "--load small --table final_ui"])
def test_rows_are_compared_where_there_is_a_server_and_a_truth(asked: str) -> None:
    assert not options(asked).comparable


def test_a_painted_table_keeps_both_bars_or_does_not() -> None:
    parts = [
        {"table": table, "to": to, "p50_ms": p50, "p99_ms": p99}
        for table, to, p50, p99 in (
            ("users_ui", "painted", 59.0, 149.0),
            ("final_ui", "painted", 60.0, 100.0),
            ("user_account", "painted", None, None),
            ("users_ui", "server", 500.0, 500.0),
        )
    ]
    assert kept(parts) == {"users_ui_painted": True, "final_ui_painted": False, "user_account_painted": False}


def test_a_ratio_over_one_says_that_we_are_quicker() -> None:
    ours = {"p50_ms": 10.0, "p99_ms": 50.0, "all_p99_ms": 400.0}
    theirs = {"p50_ms": 20.0, "p99_ms": 100.0, "all_p99_ms": 100.0}
    assert compared(ours, theirs) == {**theirs, "p50_ratio": 2.0, "p99_ratio": 2.0, "all_p99_ratio": 0.25}


def test_only_peers_that_java_does_not_slow_down_warm_up_shortly() -> None:
    assert set(beside.SOON_WARM) < set(beside.PEERS)
    assert not {"deephaven-10ms", "deephaven-50ms", "spark-micro-batch"} & set(beside.SOON_WARM)


def test_the_truth_goes_on_from_span_to_span() -> None:
    first = options(PEERED).for_peers
    second = Span(first.subject, first.rate, first.keys, 5.0, first=first.numbers.stop)
    rows: Rows = last_rows(first)
    newer = {key: max(filter(None, row)) for key, row in last_rows(first, second).items()}
    assert all(newer[key] >= max(row[0], row[1] or 0) for key, row in rows.items())
    assert any(number >= second.first for number in newer.values())
