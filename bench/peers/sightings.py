"""What a peer has shown of the join: when each message was first seen, and the newest state of each row."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from bench.arrivals import Clock

POLL_SECONDS = 0.05
FILL_SECONDS = 120.0

ShownRow = tuple[str, str, str | None]
"""userId, name and accountType: the last two are numbers of messages, as text."""


class Sightings:
    """`Arrivals` of a peer, which shows rows of final_ui. Filled by one thread, read by another."""

    def __init__(self) -> None:
        self._times: dict[int, float] = {}
        self._rows: dict[str, tuple[int, int | None]] = {}

    def take(self, rows: Iterable[ShownRow], now: float) -> None:
        """Rows in the order in which they are shown, at the moment `now` of this machine's clock."""
        for user_id, name, account_type in rows:
            user, account = int(name), None if account_type is None else int(account_type)
            self._times.setdefault(user, now)
            if account is not None:
                self._times.setdefault(account, now)
            self._rows[user_id] = user, account

    def heard(self, said: Mapping[str, Any]) -> None:
        """Takes what a viewer in a process of its own says: `rows`, and the moment `at` of their arrival there."""
        self.take(said["rows"], said["at"])

    def count(self) -> int:
        return len(self._times)

    def first_seen(self) -> dict[int, float]:
        return self._times.copy()

    def clock(self) -> Clock:
        """The same clock on the same machine."""
        return Clock()

    def rows(self) -> dict[str, tuple[int, int | None]]:
        """By userId the numbers of the user and of the account that were shown last."""
        return self._rows.copy()

    def wait_for(self, number: int, seconds: float = FILL_SECONDS) -> None:
        """Until the message of this number was seen. TimeoutError when it was not in time."""
        deadline = time.monotonic() + seconds
        while number not in self._times:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"message {number} was not shown within {seconds:g} s; {self.count()} others were")
            time.sleep(POLL_SECONDS)
