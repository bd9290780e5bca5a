"""Which rows a micro-batch changes, against the model: however records are cut into batches, and whenever a seed comes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import JoinTable, SourceTable
from tablecast.catalog_check import build_catalog
from tablecast.pipeline.memory import Change, Kept, Memory, Order, Rules, Seed
from tablecast.pipeline.plan import plan_queries
from tablecast.settings import DEFAULT_TABLES, Settings
from tests.pipeline.model import Content, Sent, cells_of, joined_cells, truth, truth_in_order

JOIN = {"left": "users", "right": "accounts", "on": "userId"}
MORE_TABLES = {
    "inner_ui": {"join": "inner", **JOIN},
    "last_ui": {"join": "left", "keep": "last", **JOIN},
    "last_inner_ui": {"join": "inner", "keep": "last", **JOIN},
    "users_last": {"source": "users", "keep": "last", "key": "userId"},
}
CATALOG = build_catalog(Settings.model_validate({"tables": DEFAULT_TABLES | MORE_TABLES}))[0]
(PLAN,) = plan_queries(CATALOG)
SOURCES = [given.source.name for given in PLAN.inputs]
STATEFUL = [table.name for table in PLAN.tables if not (isinstance(table, SourceTable) and table.key is None)]
KEYED = {"accounts_ui": "accounts", "last_ui": "users", "last_inner_ui": "users", "users_last": "users"}
KEY = "k"

Batch = list[Sent | Seed]
Row = tuple[Change, Order, dict[str, Any]]


def records(times: Sequence[tuple[int, int, int]]) -> list[Sent]:
    """From (source, partition, timestamp): offsets as they come, and values that tell records apart."""
    return [
        Sent(SOURCES[source], ts, partition, offset, {"userId": KEY, "name": f"n{offset}", "balance": float(offset)})
        for offset, (source, partition, ts) in enumerate(times)
    ]


@dataclass
class Tables:
    """One key's rows as a reader of the changelogs has them: the newest version of each, at the first of its places."""

    history: int
    sent: dict[tuple[str, Order], Sent] = field(default_factory=dict)
    rows: dict[str, dict[str, Row]] = field(default_factory=lambda: {name: {} for name in STATEFUL})

    def __post_init__(self) -> None:
        self.rules = Rules(PLAN, self.history)
        self.blob = msgspec.msgpack.encode(self.rules.blank())

    @property
    def memory(self) -> Memory:
        return msgspec.msgpack.decode(self.blob, type=Memory)

    def take(self, batch: Batch) -> list[Change]:
        memory = self.memory
        arrived = [(SOURCES.index(record.source), self.kept(record)) for record in batch if isinstance(record, Sent)]
        changes = self.rules.taken(memory, [seed for seed in batch if isinstance(seed, Seed)], arrived)
        self.blob = msgspec.msgpack.encode(memory)
        for change in changes:
            self._apply(change)
        return changes

    def kept(self, record: Sent) -> Kept:
        self.sent[(record.source, record.order)] = record
        return Kept(*record.order, (f"{record.source} {record.offset}",))

    def content(self, table: str) -> Content:
        return [(row_id, cells) for row_id, (_, _, cells) in sorted(self.rows[table].items(), key=lambda item: (item[1][1], item[0]))]

    def _apply(self, change: Change) -> None:
        table = PLAN.tables[change.table]
        if isinstance(table, JoinTable):
            left, right = self.sent[(table.left, change.left.order)], self.sent[(table.right, change.right.order)] if change.right else None
            row_id, cells = KEY if table.keep_last else left.row_id, joined_cells(CATALOG, table, left, right)
        else:
            left = self.sent[(table.source, change.left.order)]
            row_id, cells = KEY, cells_of(CATALOG.sources[table.source], left)
        self.rows[table.name][row_id] = newer(self.rows[table.name].get(row_id), (change, change.first or change.left.order, cells))


def newer(known: Row | None, told: Row) -> Row:
    if known is None:
        return told
    (before, place, _), (now, other, _) = known, told
    supersedes = now.left >= before.left and (before.right is None or (now.right is not None and now.right >= before.right))
    change, _, cells = told if supersedes else known
    return (change, min(place, other), cells)


def seed_of(tables: Tables, past: Iterable[Sent]) -> Seed:
    """What the batch job says of records that only it saw."""
    inputs: list[list[Kept]] = [sorted(tables.kept(record) for record in past if record.source == source) for source in SOURCES]
    firsts = [kept[0].order if kept and PLAN.needs_first(index) else None for index, kept in enumerate(inputs)]
    return Seed([kept[-PLAN.depth(index, tables.history) :] for index, kept in enumerate(inputs)], firsts)


def filled(tables: Tables, past: Sequence[Sent]) -> None:
    """Their rows, as a batch job writes them: those of one batch, taken by nobody who remembers it."""
    other = Tables(tables.history, tables.sent, tables.rows)
    other.take(list(past))


def expect(tables: Tables, expected: dict[str, Content]) -> None:
    """Also that keyed rows stand where their key was first seen, which one key alone does not show."""
    assert {name: tables.content(name) for name in STATEFUL} == {name: expected[name] for name in STATEFUL}
    places = [min((record.order for record in tables.sent.values() if record.source == source), default=None) for source in SOURCES]
    assert tables.memory.firsts == places
    for name, source in KEYED.items():
        assert [place for _, place, _ in tables.rows[name].values()] in ([], [places[SOURCES.index(source)]])


TIMES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 12)), min_size=1, max_size=20)
CUTS = st.lists(st.integers(0, 20), max_size=6)


def cut(batch: Sequence[Sent], cuts: Iterable[int]) -> list[Batch]:
    edges = [0, *sorted(cuts), len(batch)]
    return [list(batch[begin:end]) for begin, end in pairwise(edges)]


@given(TIMES, CUTS)
def test_any_cut_into_batches_ends_in_the_truth(times: list[tuple[int, int, int]], cuts: list[int]) -> None:
    tables, sent = Tables(64), records(times)
    for batch in cut(sent, cuts):
        tables.take(batch)
    expect(tables, truth(CATALOG, sent))


@given(TIMES, TIMES, CUTS, st.integers(0, 6))
def test_a_seed_that_comes_in_any_batch_ends_in_the_truth(
    before: list[tuple[int, int, int]], after: list[tuple[int, int, int]], cuts: list[int], late: int
) -> None:
    sent = records(before + after)
    past, future = sent[: len(before)], sent[len(before) :]
    tables = Tables(64)
    filled(tables, past)
    batches = cut(future, cuts)
    seed = seed_of(tables, past)
    batches[min(late, len(batches) - 1)].append(seed)
    for batch in batches:
        tables.take(batch)
    expect(tables, truth(CATALOG, sent))
    assert tables.take([seed]) == []


@given(TIMES, CUTS, st.integers(1, 4))
def test_beyond_the_history_a_batch_ends_as_its_records_one_by_one_in_order(times: list[tuple[int, int, int]], cuts: list[int], history: int) -> None:
    sent = sorted(records(times), key=lambda record: record.order)
    tables = Tables(history)
    for batch in cut(sent, cuts):
        tables.take(list(reversed(batch)))
    expect(tables, truth_in_order(CATALOG, sent, history))


@given(TIMES)
def test_a_batch_changes_a_row_once(times: list[tuple[int, int, int]]) -> None:
    changes = Tables(64).take(list(records(times)))
    rows = [(change.table, () if PLAN.tables[change.table].name in KEYED else (change.left.p, change.left.o)) for change in changes]
    assert len(rows) == len(set(rows))


def test_only_what_the_history_allows_is_remembered() -> None:
    tables = Tables(3)
    tables.take(list(records([(0, 0, ts) for ts in range(10)])))
    memory = tables.memory
    assert [kept.ts for kept in memory.newest[0]] == [7, 8, 9]
    assert memory.firsts[0] == (0, 0, 0)
