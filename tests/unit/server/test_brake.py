"""Guesses are slowed down in bounded memory."""

import pytest

from tablecast.server import brake
from tablecast.server.brake import Brake

from .talking import Clock


def test_an_address_may_be_wrong_a_few_times_and_then_once_in_a_while(clock: Clock) -> None:
    slow = Brake(burst=3, per_second=0.5, clock=clock)
    for number in range(3):
        assert slow.wait("a", f"guess {number}") == 0
        assert slow.failed("a", f"guess {number}")
    assert slow.wait("a", "another") == 2
    assert slow.wait("b", "another") == 0
    clock.now += 1.5
    assert slow.wait("a", "another") == 1
    clock.now += 0.5
    assert slow.wait("a", "another") == 0
    slow.failed("a", "another")
    assert slow.wait("a", "one more") == 2
    clock.now += 1000
    for number in range(3):
        assert slow.wait("a", f"later {number}") == 0
        slow.failed("a", f"later {number}")
    assert slow.wait("a", "too many") == 2


def test_the_same_wrong_key_again_is_no_new_guess(clock: Clock) -> None:
    slow = Brake(burst=1, clock=clock)
    assert slow.failed("a", "old")
    assert not slow.failed("a", "old")
    assert (slow.wait("a", "old"), slow.wait("a", "new")) == (0, 1)


def test_neither_addresses_nor_keys_fill_the_memory(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brake, "ADDRESSES", 50)
    slow = Brake(clock=clock)
    for number in range(500):
        slow.failed(f"address {number}", "x")
        slow.failed("the last", f"{number}")
    assert len(slow) == 50
    assert len(slow._tries["the last"].wrong) == brake.REMEMBERED
    assert slow.wait("the last", "new") > 0, "who is seen all the time is not forgotten for others"
