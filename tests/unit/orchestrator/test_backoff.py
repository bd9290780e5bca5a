"""Waiting before the next try."""

from tablecast.orchestrator.backoff import CALM_SECONDS, FIRST_SECONDS, MOST_SECONDS, Backoff


def test_each_failure_waits_longer_up_to_a_cap() -> None:
    backoff = Backoff()
    waits = [backoff.next(float(second)) for second in range(20)]
    assert waits[0] == FIRST_SECONDS
    assert waits == sorted(waits)
    assert waits[-1] == MOST_SECONDS


def test_a_calm_while_starts_it_anew() -> None:
    backoff = Backoff()
    for second in range(10):
        backoff.next(float(second))
    assert backoff.next(9 + CALM_SECONDS + MOST_SECONDS + 1) == FIRST_SECONDS
