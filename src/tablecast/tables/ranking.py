"""Things in the order of their places. A million of them are put in order in small slices, and then kept so in logarithmic time.

A place is bytes that nothing else in the ranking has. Leaves hold a few dozen each, so that a change touches little memory; which leaf is found by
numbers that lie together in one array, and by the places themselves only where those are equal. What is added is inserted where it belongs; what is
put off only gets into the right leaf, which is sorted when somebody looks into it or when it has grown too big. So the work of sorting
a million is spread over the putting off, and no step takes longer than sorting one leaf.
"""

import ctypes
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")
"""What stands in a ranking must not be tracked by the garbage collector, as a Row is not."""

_untrack = ctypes.pythonapi.PyObject_GC_UnTrack if sys.implementation.name == "cpython" else None
if _untrack is not None:
    _untrack.argtypes, _untrack.restype = [ctypes.py_object], None

LEAF = 32
"""What a leaf holds after it was split; it is split when it holds more than twice as much."""
MIXED_LEAF = 256
MIXED = 4096
"""The same while it is filled: a mixed leaf of more than MIXED is split into leaves of MIXED_LEAF. Few large ones are filled more quickly."""
BLOCK = 128
"""So many leaves are counted together, so that an index is found without adding up all of them."""


_eight_bytes = Struct(">Q").unpack_from


def mark_of(place: bytes) -> float:
    """A number that is never less than that of an earlier place."""
    return float(_eight_bytes(place)[0] if len(place) >= 8 else int.from_bytes(place.ljust(8, b"\0"), "big"))


def unwatched(things: list[S]) -> list[S]:
    """The same list, which the garbage collector passes over: it holds nothing that could be part of a cycle, and to look at a million rows now and
    then would hold up the ticking by a tenth of a second each time."""
    if _untrack is not None:
        _untrack(ctypes.py_object(things))
    return things


class Ranking(Generic[T]):
    def __init__(self) -> None:
        self._places: list[list[bytes]] = [unwatched([])]
        """The places of each leaf, in order unless it is mixed."""
        self._items: list[list[T]] = [unwatched([])]
        """What stands there."""
        self._mixed = bytearray(1)
        """Which leaves are mixed."""
        self._firsts = [b""]
        """The least place that may stand in each leaf."""
        self._marks = array("d", [-1.0])
        """The marks of these."""
        self._sums: list[int] | None = None
        """How many stand in each block of leaves; None when that is to be added up again."""
        self._size = 0
        self._unsettled = 0
        """The first leaf that `settle` has not come to."""

    def __len__(self) -> int:
        return self._size

    def put_off(self, placed: Iterable[tuple[bytes, T]]) -> None:
        """Puts them in order later."""
        firsts, leaves, items, mixed = self._firsts, self._places, self._items, self._mixed
        self._sums = None
        added = 0
        for place, item in placed:
            index = bisect_right(firsts, place) - 1
            leaf = leaves[index]
            leaf.append(place)
            items[index].append(item)
            mixed[index] = True
            added += 1
            if len(leaf) > MIXED:
                self._split(index, MIXED_LEAF)
        self._size += added

    def add(self, placed: Iterable[tuple[bytes, T]]) -> None:
        """Puts them in order at once."""
        leaves, items, mixed, marks, sums = self._places, self._items, self._mixed, self._marks, self._sums
        added = 0
        for place, item in placed:
            # A call for each would take as long as the rest of it.
            mark = float(_eight_bytes(place)[0]) if len(place) >= 8 else mark_of(place)
            index = bisect_right(marks, mark) - 1
            if marks[index] == mark:
                index = self._leaf_among_equals(place, mark, index)
            if mixed[index]:
                self._sort(index)
            leaf = leaves[index]
            at = bisect_left(leaf, place)
            leaf.insert(at, place)
            items[index].insert(at, item)
            added += 1
            if sums is not None:
                sums[index // BLOCK] += 1
            if len(leaf) > 2 * LEAF:
                self._split(index, LEAF)
                sums = None
        self._size += added

    def remove(self, places: Iterable[bytes]) -> None:
        """Raises KeyError when nothing stands at one of them."""
        leaves, items, mixed, marks, sums = self._places, self._items, self._mixed, self._marks, self._sums
        for place in places:
            mark = float(_eight_bytes(place)[0]) if len(place) >= 8 else mark_of(place)
            index = bisect_right(marks, mark) - 1
            if marks[index] == mark:
                index = self._leaf_among_equals(place, mark, index)
            if mixed[index]:
                self._sort(index)
            leaf = leaves[index]
            at = bisect_left(leaf, place)
            if at == len(leaf) or leaf[at] != place:
                raise KeyError(place)
            del leaf[at], items[index][at]
            self._size -= 1
            if sums is not None:
                sums[index // BLOCK] -= 1
            if not leaf and index > 0:
                del leaves[index], items[index], mixed[index], self._firsts[index], marks[index]
                sums = self._sums = None

    def settle(self, limit: int) -> bool:
        """Puts up to about `limit` of what was put off in order, so that nobody has to wait for it later. Whether all is in order now."""
        while self._unsettled < len(self._places) and limit > 0:
            held = len(self._places[self._unsettled])
            if self._mixed[self._unsettled] or held > 2 * LEAF:
                limit -= held
                self._split(self._unsettled, LEAF)
            self._unsettled += 1
        return self._unsettled >= len(self._places)

    def between(self, start: int, stop: int) -> list[T]:
        """What stands from the index `start` up to, not including, `stop`; less where there is no more."""
        stop = min(stop, self._size)
        found: list[T] = []
        if start < stop:
            index, before = self._leaf_of(start)
            while before < stop:
                if self._mixed[index]:
                    self._sort(index)
                found += self._items[index][max(0, start - before) : stop - before]
                before += len(self._items[index])
                index += 1
        return found

    def place_at(self, index: int) -> bytes | None:
        """The place of what stands at this index; None when there is nothing."""
        if index >= self._size:
            return None
        leaf, before = self._leaf_of(index)
        if self._mixed[leaf]:
            self._sort(leaf)
        return self._places[leaf][index - before]

    def stretch(self, start: bytes) -> tuple[list[T], bytes | None]:
        """What stands from the place `start` on up to another place, in any order, and that other place; None there means up to the end.

        Nothing is put in order for it. Whoever goes on from place to place comes by everything once, whatever is added and removed meanwhile.
        """
        index = self._leaf_for(start)
        items = self._items[index]
        if self._firsts[index] < start:
            items = [item for place, item in zip(self._places[index], items, strict=True) if place >= start]
        return items, self._firsts[index + 1] if index + 1 < len(self._firsts) else None

    def index_of(self, place: bytes) -> int | None:
        """How many stand before this place; None when nothing stands there."""
        index = self._leaf_for(place)
        if self._mixed[index]:
            self._sort(index)
        at = bisect_left(self._places[index], place)
        there = at < len(self._places[index]) and self._places[index][at] == place
        return self._before(index) + at if there else None

    def dismantle(self) -> Iterator[None]:
        """Lets go of everything, a leaf at each step: to free a million objects at once would hold up every other thread."""
        self._firsts, self._marks, self._mixed, self._sums, self._size = [], array("d"), bytearray(), None, 0
        while self._places:
            self._places.pop()
            self._items.pop()
            yield

    def _leaf_for(self, place: bytes) -> int:
        """The leaf in which this place belongs."""
        mark = mark_of(place)
        index = bisect_right(self._marks, mark) - 1
        return self._leaf_among_equals(place, mark, index) if self._marks[index] == mark else index

    def _leaf_among_equals(self, place: bytes, mark: float, last: int) -> int:
        """The leaf in which this place belongs, where some begin with the same mark, the last of which is this one."""
        return bisect_right(self._firsts, place, bisect_left(self._marks, mark, 0, last), last + 1) - 1

    def _leaf_of(self, place: int) -> tuple[int, int]:
        """The leaf in which this index lies, and how many stand before that leaf."""
        leaves, index, before = self._places, 0, 0
        for count in self._blocks() if place >= LEAF else ():
            if before + count > place:
                break
            before += count
            index += BLOCK
        while before + len(leaves[index]) <= place:
            before += len(leaves[index])
            index += 1
        return index, before

    def _before(self, index: int) -> int:
        """How many stand before this leaf."""
        block = index // BLOCK
        return sum(self._blocks()[:block]) + sum(map(len, self._places[block * BLOCK : index]))

    def _blocks(self) -> list[int]:
        """How many stand in each block of leaves."""
        if self._sums is None:
            leaves = self._places
            self._sums = [sum(map(len, leaves[at : at + BLOCK])) for at in range(0, len(leaves), BLOCK)]
        return self._sums

    def _sort(self, index: int) -> None:
        places, items = self._places[index], self._items[index]
        order = sorted(range(len(places)), key=places.__getitem__)
        self._places[index] = unwatched([places[at] for at in order])
        self._items[index] = unwatched([items[at] for at in order])
        self._mixed[index] = False

    def _split(self, index: int, size: int) -> None:
        """Into leaves of so many."""
        if self._mixed[index]:
            self._sort(index)
        places, items = self._places[index], self._items[index]
        parts = range(0, max(1, len(places)), size)
        self._places[index : index + 1] = [unwatched(places[at : at + size]) for at in parts]
        self._items[index : index + 1] = [unwatched(items[at : at + size]) for at in parts]
        self._mixed[index : index + 1] = bytes(len(parts))
        firsts = [places[at] for at in parts[1:]]
        self._firsts[index + 1 : index + 1] = firsts
        self._marks[index + 1 : index + 1] = array("d", map(mark_of, firsts))
        self._sums = None
