"""Who has not logged in, and how much of the server they may hold: connections and requests, for each address and for all together."""

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from tablecast.server.addresses import Addresses, household
from tablecast.server.rate import Allowance
from tablecast.settings import ServerSettings

TOGETHER = 1000
"""Connections of all strangers at once, or as many as there may be viewers: after a restart all of them come back in the same second."""
REQUESTS_PER_SECOND = 200.0
REQUESTS_BURST = 2000
"""Requests without a login, of one address. A page is a dozen of them, and a whole office may open it at nine."""
HOUSEHOLDS = 10_000

Client = tuple[str, int]


def together(settings: ServerSettings) -> int:
    """Each takes a file of the process."""
    return max(TOGETHER, settings.sessions)


class Strangers:
    """Counts connections from their beginning until they log in or end. Those behind a trusted proxy count only all together."""

    def __init__(self, addresses: Addresses, limit: int, together: int = TOGETHER, clock: Callable[[], float] = time.monotonic) -> None:
        self.addresses = addresses
        self.limit = limit
        self._together = together
        self._clock = clock
        self._here: dict[Client, str] = {}
        self._counts: Counter[str] = Counter()
        self._asked: OrderedDict[str, Allowance] = OrderedDict()

    def __len__(self) -> int:
        return len(self._here)

    def come(self, client: Client) -> bool:
        """A connection begins. False if there is no room for it."""
        home = "" if self.addresses.is_proxy(client[0]) else household(client[0])
        if len(self._here) >= self._together or (home and self._counts[home] >= self.limit):
            return False
        self._here[client] = home
        self._counts[home] += 1
        return True

    def go(self, client: Client | None) -> None:
        """It is over, or no stranger's any more."""
        home = self._here.pop(client, None) if client is not None else None
        if home is not None:
            self._counts[home] -= 1
            if not self._counts[home]:
                del self._counts[home]

    def ask(self, address: str) -> int:
        """A request without a login comes from this address. After how many seconds it may; 0 if now."""
        asked = self._asked.setdefault(address, Allowance(REQUESTS_PER_SECOND, REQUESTS_BURST))
        self._asked.move_to_end(address)
        if len(self._asked) > HOUSEHOLDS:
            self._asked.popitem(last=False)
        return math.ceil(asked.wait(self._clock()))
