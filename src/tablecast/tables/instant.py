"""The rows of one instant, copied a slice at a time while the table goes on changing."""

from collections.abc import Iterator
from typing import Self

from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Row


class Instant:
    """What these rows of a table hold when it is made. To copy a million at once would hold up the ticking by a fifth of a second; so what a change
    replaces is kept while the copying goes on. Follows the table from `with` to its end."""

    def __init__(self, table: LiveTable, rows: list[Row]) -> None:
        self._table = table
        self._rows = rows
        self._replaced: dict[Row, bytes] = {}

    def __enter__(self) -> Self:
        self._table.follow(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._table.unfollow(self)

    def changed(self, row: Row, before: bytes) -> None:
        if before:
            self._replaced.setdefault(row, before)

    def slices(self, size: int) -> Iterator[list[bytes]]:
        """The data of all rows, `size` of them at a time."""
        for start in range(0, len(self._rows), size):
            part = self._rows[start : start + size]
            yield [self._replaced.get(row) or row.data for row in part] if self._replaced else [row.data for row in part]
