"""Where somebody comes from: the address that limits are counted by."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from pydantic import IPvAnyNetwork

NEIGHBOURS = 64
"""Of an IPv6 address, so many bits are one household's or one machine's: it can have all addresses of them."""

REMEMBERED = 4096
"""Hosts whose household is known: it is asked for with each request."""


@lru_cache(REMEMBERED)
def household(host: str) -> str:
    """The address, or for IPv6 its network: what one person has many of counts as one."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, NEIGHBOURS), strict=False))
    return str(address)


class Addresses:
    """Who asks, also behind proxies that the settings trust."""

    def __init__(self, proxies: Iterable[IPvAnyNetwork] = ()) -> None:
        self._proxies = tuple(proxies)

    def is_proxy(self, host: str) -> bool:
        if not self._proxies:
            return False
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._proxies)

    def of(self, peer: str, forwarded: str | None) -> str:
        """The household that asks. `forwarded` (X-Forwarded-For) is believed from its end on as long as trusted proxies have written it."""
        came = [part.strip() for part in (forwarded or "").split(",") if part.strip()]
        while self.is_proxy(peer) and came:
            peer = came.pop()
        return household(peer)
