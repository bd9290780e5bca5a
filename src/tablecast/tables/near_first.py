"""Keeps a ranking up first where somebody looks: a window is not to wait for what happens half a million rows behind it."""

from itertools import islice
from typing import Generic, TypeVar

from tablecast.tables.ranking import Ranking

T = TypeVar("T")

MARGIN = 1024
"""So many are kept up behind the last one that was looked at."""
MOST_FAR = 4096
"""So many changes are put off at most."""


class NearFirst(Generic[T]):
    """Changes behind the frontier, a place well behind everything that was looked at, are put off until `tidy`, until somebody looks there, or until
    there are too many. What stands before the frontier, and how many there are in all, is always right."""

    def __init__(self, order: Ranking[T]) -> None:
        self._order = order
        self._frontier: bytes | None = None
        """None: nothing is put off."""
        self._before = 0
        """How many stand before the frontier."""
        self._looked = 0
        """How far was looked since the frontier was last thought about."""
        self._gone: dict[bytes, None] = {}
        self._come: dict[bytes, T] = {}
        """Put off; what is gone is to be removed before what has come is added, which may stand at the same place."""

    def __len__(self) -> int:
        return len(self._order) + len(self._come) - len(self._gone)

    def change(self, gone: list[bytes], come: list[tuple[bytes, T]]) -> None:
        """Removes what stands at some places, then adds others. Raises KeyError when nothing stands at one of them, at the latest in `tidy`."""
        if self._frontier is not None:
            gone, come = self._near_of(gone, come, self._frontier)
            self._before += len(come) - len(gone)
        self._order.remove(gone)
        self._order.add(come)
        if len(self._gone) + len(self._come) > MOST_FAR:
            self.tidy()

    def between(self, start: int, stop: int) -> list[T]:
        """What stands from the index `start` up to, not including, `stop`."""
        self._looked = max(self._looked, stop)
        if self._frontier is None or stop > self._before:
            self.tidy()
            self._aim()
        return self._order.between(start, stop)

    def index_of(self, place: bytes) -> int | None:
        self.tidy()
        return self._order.index_of(place)

    def tidy(self, limit: int | None = None) -> bool:
        """Does up to `limit` of what was put off, and draws the frontier nearer if nobody looks so far any more. Whether nothing is left."""
        gone = list(islice(self._gone, limit))
        for place in gone:
            del self._gone[place]
        self._order.remove(gone)
        if not self._gone:
            some = list(islice(self._come.items(), limit))
            for place, _ in some:
                del self._come[place]
            self._order.add(some)
        done = not (self._gone or self._come)
        if done and limit is not None and self._before > 2 * (self._looked + MARGIN):
            self._aim()
        return done

    def _aim(self) -> None:
        """Draws the frontier anew, where nothing is put off."""
        self._before = self._looked + MARGIN
        self._frontier = self._order.place_at(self._before)
        self._looked = 0

    def _near_of(self, gone: list[bytes], come: list[tuple[bytes, T]], frontier: bytes) -> tuple[list[bytes], list[tuple[bytes, T]]]:
        """Those before the frontier; the others are put off."""
        far_gone, far_come = self._gone, self._come
        for place in gone:
            if place >= frontier:
                if place in far_come:
                    del far_come[place]
                else:
                    far_gone[place] = None
        near = [placed for placed in come if placed[0] < frontier]
        if len(near) < len(come):
            far_come.update(placed for placed in come if placed[0] >= frontier)
        return [place for place in gone if place < frontier], near
