"""How much those may hold who have not logged in."""

from ipaddress import ip_network

import pytest

from tablecast.server import strangers as module
from tablecast.server.addresses import Addresses
from tablecast.server.strangers import Strangers

from .talking import Clock


def test_an_address_has_so_many_connections_until_one_logs_in_or_ends() -> None:
    strangers = Strangers(Addresses(), 2)
    assert [strangers.come(("192.0.2.1", port)) for port in (1, 2, 3)] == [True, True, False]
    assert strangers.come(("192.0.2.2", 1))
    strangers.go(("192.0.2.1", 3))
    strangers.go(None)
    assert not strangers.come(("192.0.2.1", 3))
    strangers.go(("192.0.2.1", 1))
    strangers.go(("192.0.2.1", 1))
    assert [strangers.come(("192.0.2.1", port)) for port in (4, 5)] == [True, False]
    assert len(strangers) == 3


def test_all_together_have_so_many_wherever_they_come_from() -> None:
    strangers = Strangers(Addresses([ip_network("10.0.0.1/32")]), 2, together=5)
    assert all(strangers.come(("10.0.0.1", port)) for port in range(4)), "of a proxy more than of an address"
    assert [strangers.come((f"192.0.2.{number}", 1)) for number in range(3)] == [True, False, False]


def test_requests_without_a_login_come_only_so_fast(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REQUESTS_BURST", 3)
    monkeypatch.setattr(module, "REQUESTS_PER_SECOND", 0.5)
    monkeypatch.setattr(module, "HOUSEHOLDS", 2)
    strangers = Strangers(Addresses(), 1, clock=clock)
    assert [strangers.ask("a") for _ in range(4)] == [0, 0, 0, 2]
    assert strangers.ask("b") == 0
    clock.now += 2
    assert [strangers.ask("a") for _ in range(2)] == [0, 2]
    for home in "cde":
        strangers.ask(home)
    assert len(strangers._asked) == 2
