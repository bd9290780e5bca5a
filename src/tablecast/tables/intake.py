"""How the rows of a table come into a view: first those that it has, a few at a time, and from then on what changes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice

from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Row

MOST_LATE = 256
"""So many changed rows are kept until somebody looks: to take them in together is quicker than one by one, but nobody shall wait long for it."""


class Intake:
    """Follows the table from its making to `leave`. What a change replaced is kept until it is asked for: however often a row changes meanwhile it is
    taken in once, and while the rows themselves are still coming nothing else has to be done."""

    def __init__(self, table: LiveTable, take: Callable[[dict[Row, bytes]], None]) -> None:
        """`take` takes in rows that have changed, with what they held before: empty where a row is new, as its own data is where it has left."""
        self.complete = len(table) == 0
        """Whether all rows that the table had have come."""
        self.eager = False
        """Whether changes are taken in, once there are many, before somebody looks."""
        self._table = table
        self._take = take
        self._failed: Exception | None = None
        self._reached: bytes | None = None if self.complete else b""
        """Rows at positions before this one have come, or are about to; None when all have."""
        self._rows = iter(()) if self.complete else self._all_rows()
        self._late: dict[Row, bytes] = {}
        table.follow(self)

    def changed(self, row: Row, before: bytes) -> None:
        if self._reached is not None and row.position >= self._reached:
            return
        self._late.setdefault(row, before)
        if self.eager and len(self._late) >= MOST_LATE:
            # Others follow the table too: whoever looks next hears of it.
            with suppress(Exception):
                self.catch_up()

    def rows(self, limit: int) -> tuple[list[Row], list[bytes]]:
        """Up to `limit` further rows, and what is to be taken for the data of each: later changes of them come with `catch_up`."""
        late, rows = self._late, list(islice(self._rows, limit))
        self.complete = len(rows) < limit
        return rows, [late.get(row) or row.data for row in rows] if late else [row.data for row in rows]

    def catch_up(self, limit: int | None = None) -> None:
        """Has rows taken in that have changed, up to `limit` of them. Where that has failed once it fails for ever: nobody shall see what is left."""
        if self._failed is not None:
            raise self._failed
        try:
            self._take(self._changes(limit))
        except Exception as error:
            self._failed = error
            raise

    def _changes(self, limit: int | None) -> dict[Row, bytes]:
        late = self._late
        if limit is None or len(late) <= limit:
            self._late = {}
            return late
        return {row: late.pop(row) for row in list(islice(late, limit))}

    @property
    def waiting(self) -> int:
        """How many rows have changed that were not taken in."""
        return len(self._late)

    @property
    def waits(self) -> bool:
        """Whether there are changes that were not taken in."""
        return bool(self._late) or self._failed is not None

    def leave(self) -> None:
        self._table.unfollow(self)
        self._late = {}

    def _all_rows(self) -> Iterator[Row]:
        reached: bytes | None = b""
        while reached is not None:
            rows, reached = self._table.stretch(reached)
            self._reached = reached
            yield from tuple(rows)
