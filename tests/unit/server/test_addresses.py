"""By what limits are counted."""

from ipaddress import ip_network

import pytest

from tablecast.server.addresses import Addresses, household

PROXIES = Addresses([ip_network("10.0.0.0/8"), ip_network("::1/128")])


@pytest.mark.parametrize(
    ("host", "home"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("nonsense", "nonsense"),
    ],
)
def test_what_one_household_has_many_of_counts_as_one(host: str, home: str) -> None:
    assert household(host) == home


@pytest.mark.parametrize(
    ("peer", "forwarded", "home"),
    [
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "made up, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("::1", "2001:db8::7", "2001:db8::/64"),
        ("10.0.0.1", " , ", "10.0.0.1"),
    ],
    ids=["nobody to trust", "nothing told", "one proxy", "what a stranger wrote before", "mapped", "IPv6", "empty"],
)
def test_a_header_is_believed_of_trusted_proxies_alone(peer: str, forwarded: str | None, home: str) -> None:
    assert PROXIES.of(peer, forwarded) == home
