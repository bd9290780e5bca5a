"""What one viewer may take of the loop's time."""

from tablecast.server.connection import BURST_SECONDS, PLENTY, SHARE, Expenses
from tablecast.server.rate import Budget
from tablecast.server.turnstile import Turnstile

TAKEN = 0.15
"""Of the time: more than one viewer's share, less than what is enough for all."""


def rested(*shares: float, seconds: int = 20) -> list[float]:
    """How long each of these viewers had to rest in so many seconds, if it takes this share of the time whenever it may, in steps of 10 ms."""
    together = Budget(PLENTY, BURST_SECONDS)
    viewers = [Expenses(Turnstile(), together) for _ in shares]
    rests = [0.0] * len(shares)
    for step in range(100 * seconds):
        now = 100 + step / 100
        for number, (viewer, share) in enumerate(zip(viewers, shares, strict=True)):
            if viewer.wait(now) > 0:
                rests[number] += 0.01
            else:
                viewer.spend(share / 100, now)
    return rests


def test_one_who_takes_much_alone_never_rests() -> None:
    assert TAKEN > SHARE
    assert rested(TAKEN) == [0.0]


def test_who_takes_more_than_its_share_rests_where_there_is_not_enough_for_all_and_the_others_do_not() -> None:
    greedy, *modest = rested(0.6, *[0.04] * 6)
    assert greedy > 10
    assert modest == [0.0] * 6
