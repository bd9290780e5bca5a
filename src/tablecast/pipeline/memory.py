"""What a micro-batch remembers of a key, and which rows its records change. The rules are those of realtime.py, one record after another.

Plain Python that imports no Spark: it runs once a key and batch inside Spark's Python workers, and in tests without them.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tablecast.catalog import JoinTable, SourceTable
from tablecast.pipeline.plan import QueryPlan

Order = tuple[int, int, int]


class Kept(NamedTuple):
    """What is kept of a record to make rows from it later. Compares by its order: timestamp, partition, offset."""

    ts: int
    p: int
    o: int
    bodies: tuple[str | None, ...]

    @property
    def order(self) -> Order:
        return (self.ts, self.p, self.o)


class Change(NamedTuple):
    """A row to be made: of the table with this number, from a left record (or the only one) and perhaps a right one. `first` places a keyed row."""

    table: int
    left: Kept
    right: Kept | None = None
    first: Order | None = None


class Memory(msgspec.Struct, array_like=True):
    """The newest records of each input in rising order, the first order of those that need it, and whether the seed is among them."""

    newest: list[list[Kept]]
    firsts: list[Order | None]
    seeded: bool = False


class Seed(NamedTuple):
    """What a batch job knew of a key."""

    newest: Sequence[Sequence[Kept]]
    firsts: Sequence[Order | None]


class Rules:
    """Which rows records change in the tables of a query."""

    def __init__(self, plan: QueryPlan, history: int) -> None:
        self.plan = plan
        self.inputs = range(len(plan.inputs))
        self.depths = [plan.depth(index, history) for index in self.inputs]
        self.histories = plan.histories(history)
        self.pushed_out = 0
        """How many records newer ones of their key have pushed out of the history, in all that was taken so far."""
        self.needs_first = [plan.needs_first(index) for index in self.inputs]
        self.has_plain = [any(_is_plain(table, given.source.name) for table in plan.tables) for given in plan.inputs]

    def blank(self) -> Memory:
        return Memory([[] for _ in self.inputs], [None for _ in self.inputs])

    def taken(self, memory: Memory, seeds: Iterable[Seed], records: Iterable[tuple[int, Kept]]) -> list[Change]:
        """What a batch changes, each row once and in its last state; `memory` then holds the batch.

        Seeds go first and records in their order, so what comes out depends on the batch alone, not on how it came in.
        """
        changes: dict[tuple[Any, ...], Change] = {}
        for change in self._each(memory, seeds, records):
            # A keyed row is the only one of its table and key.
            row = (change.table,) if change.first is not None else (change.table, change.left.p, change.left.o)
            changes[row] = change
        return list(changes.values())

    def _each(self, memory: Memory, seeds: Iterable[Seed], records: Iterable[tuple[int, Kept]]) -> Iterator[Change]:
        for seed in seeds:
            yield from self._take_seed(memory, seed)
        for index, record in sorted(records, key=lambda pair: (pair[1].order, pair[0])):
            yield from self._take(memory, index, record)

    def _take(self, memory: Memory, index: int, record: Kept) -> Iterator[Change]:
        self._remember(memory, index, record)
        for number, table in enumerate(self.plan.tables):
            if isinstance(table, JoinTable):
                yield from (
                    self._asof(number, table, memory, index, record) if table.join == "asof" else self._joined(number, table, memory, index, record)
                )
            elif table.key is not None and index == self.plan.index(table.source) and _moves_keyed_row(memory, index, record):
                yield Change(number, memory.newest[index][-1], None, memory.firsts[index])

    def _take_seed(self, memory: Memory, seed: Seed) -> Iterator[Change]:
        """Rows of records that came in an earlier batch were made from too little, and are made again. A second seed says nothing new."""
        if memory.seeded:
            return
        untold = any(memory.newest)
        for index in self.inputs:
            for record in seed.newest[index]:
                self._remember(memory, index, record)
            memory.firsts[index] = min(filter(None, (memory.firsts[index], seed.firsts[index])), default=None)
        memory.seeded = True
        if untold:
            yield from self._all_again(memory)

    def _remember(self, memory: Memory, index: int, record: Kept) -> None:
        if depth := self.depths[index]:
            newest = memory.newest[index]
            insort(newest, record)
            self.pushed_out += index in self.histories and len(newest) > depth
            del newest[: max(0, len(newest) - depth)]
        if self.needs_first[index]:
            memory.firsts[index] = min(memory.firsts[index] or record.order, record.order)

    def _all_again(self, memory: Memory) -> Iterator[Change]:
        for number, table in enumerate(self.plan.tables):
            if isinstance(table, SourceTable):
                if table.key is not None and (newest := memory.newest[self.plan.index(table.source)]):
                    yield Change(number, newest[-1], None, memory.firsts[self.plan.index(table.source)])
            elif table.join == "asof":
                rights = memory.newest[self.plan.index(table.right)]
                yield from (Change(number, left, _as_of(rights, left.ts)) for left in memory.newest[self.plan.index(table.left)])
            else:
                yield from self._with_last(number, table, memory, memory.newest[self.plan.index(table.left)])

    def _joined(self, number: int, table: JoinTable, memory: Memory, index: int, record: Kept) -> Iterator[Change]:
        """Left and inner: a left record changes its own row, a new last right record every row of its key."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        if index == left and not table.keep_last:
            yield from self._with_last(number, table, memory, [record])
        elif index == left:
            yield from self._with_last(number, table, memory, memory.newest[left] if _moves_keyed_row(memory, left, record) else [])
        elif index == right and memory.newest[right][-1] is record:
            yield from self._with_last(number, table, memory, memory.newest[left])

    def _with_last(self, number: int, table: JoinTable, memory: Memory, lefts: Sequence[Kept]) -> Iterator[Change]:
        rights = memory.newest[self.plan.index(table.right)]
        if rights or table.join != "inner":
            first = memory.firsts[self.plan.index(table.left)] if table.keep_last else None
            last = rights[-1] if rights else None
            yield from (Change(number, left, last, first) for left in (lefts[-1:] if table.keep_last else lefts))

    def _asof(self, number: int, table: JoinTable, memory: Memory, index: int, record: Kept) -> Iterator[Change]:
        """A left record makes its own row; a late right record corrects the rows whose newest right record it has become."""
        left, right = self.plan.index(table.left), self.plan.index(table.right)
        rights = memory.newest[right]
        if index == left:
            yield Change(number, record, _as_of(rights, record.ts))
        elif index == right and (place := bisect_left(rights, record)) < len(rights) and rights[place] is record:
            lefts = memory.newest[left]
            end = bisect_left(lefts, rights[place + 1].ts, key=_timestamp) if place + 1 < len(rights) else len(lefts)
            yield from (Change(number, row, record) for row in lefts[bisect_left(lefts, record.ts, key=_timestamp) : end])


def _is_plain(table: object, source: str) -> bool:
    return isinstance(table, SourceTable) and table.key is None and table.source == source


def _timestamp(record: Kept) -> int:
    return record.ts


def _as_of(rights: Sequence[Kept], timestamp: int) -> Kept | None:
    """The newest that is not after the timestamp."""
    place = bisect_right(rights, timestamp, key=_timestamp)
    return rights[place - 1] if place else None


def _moves_keyed_row(memory: Memory, index: int, record: Kept) -> bool:
    """A keyed row shows its newest record and stands where its first one does."""
    return memory.newest[index][-1] is record or memory.firsts[index] == record.order
