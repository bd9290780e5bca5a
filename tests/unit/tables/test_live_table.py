"""T6, T7, T8: the same changelog gives the same rows in the same order, whatever was written twice."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Bound, Column
from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Changes, Row

COLUMNS = (Column("n", "int64"),)

MakeTable = Callable[..., LiveTable]


@pytest.fixture
def make_table() -> MakeTable:
    def make(rows: int | None = None, seconds: float | None = None) -> LiveTable:
        return LiveTable("t", COLUMNS, Bound(rows, seconds))

    return make


def content(table: LiveTable) -> list[tuple[str, bytes]]:
    return [(row.id, row.data) for row in table.rows(0, len(table))]


def test_rows_stand_in_the_order_of_time_partition_offset_and_id(make_table: MakeTable) -> None:
    table = make_table()
    for id, version in [(b"d", b"2:0:0"), (b"c", b"1:1:0"), (b"b", b"1:0:10"), (b"a", b"1:0:9"), (b"z", b"-1:0:99")]:
        assert table.upsert(id, b'{"n":"1"}', version)
    assert [row.id for row in table.rows(0, 9)] == ["z", "a", "b", "c", "d"]


def test_an_order_of_its_own_places_a_row(make_table: MakeTable) -> None:
    table = make_table()
    table.upsert(b"late", b'{"n":"1"}', b"9:0:9", b"1:0:0")
    table.upsert(b"early", b'{"n":"1"}', b"5:0:5")
    assert [row.id for row in table.rows(0, 9)] == ["late", "early"]


@pytest.mark.parametrize(
    ("known", "coming", "taken"),
    [
        (b"1:0:1", b"1:0:2", True),
        (b"1:0:1", b"1:0:1", False),
        (b"1:0:2", b"1:0:1", False),
        (b"1:0:1|", b"1:0:1|1:0:1", True),
        (b"1:0:1|2:0:2", b"1:0:1|2:0:1", False),
        (b"1:0:1|2:0:2", b"1:0:1|", False),
        (b"1:0:1|2:0:2", b"1:0:2|2:0:1", False),
        (b"9:0:1", b"10:0:1", True),
    ],
)
def test_a_row_is_taken_only_if_its_version_supersedes(make_table: MakeTable, known: bytes, coming: bytes, taken: bool) -> None:
    table = make_table()
    table.upsert(b"a", b'{"n":"1"}', known, b"1:0:1")
    assert table.upsert(b"a", b'{"n":"2"}', coming, b"1:0:1") is taken
    assert content(table) == [("a", b'{"n":"2"}' if taken else b'{"n":"1"}')]


def test_an_update_in_place_keeps_the_row_object(make_table: MakeTable) -> None:
    table = make_table()
    table.upsert(b"a", b'{"n":"1"}', b"1:0:1|")
    [before] = table.rows(0, 1)
    table.upsert(b"a", b'{"n":"2"}', b"1:0:1|5:0:5")
    assert table.rows(0, 1) == [before]
    assert before.data == b'{"n":"2"}'


def test_a_deleted_row_is_not_brought_back_by_an_older_state(make_table: MakeTable) -> None:
    table = make_table()
    table.upsert(b"a", b'{"n":"1"}', b"1:0:1")
    assert table.delete(b"a", b"1:0:2")
    assert len(table) == 0
    assert not table.upsert(b"a", b'{"n":"1"}', b"1:0:1")
    assert table.upsert(b"a", b'{"n":"3"}', b"1:0:3")
    assert not table.delete(b"a", b"1:0:2")
    assert table.delete(b"a", None)
    assert not table.delete(b"never seen", b"1:0:1")


@pytest.mark.parametrize(
    ("key", "data", "version"),
    [
        (b"a", b"not an object", b"1:0:1"),
        (b"a", b"{}", b""),
        (b"a", b"{}", b"1:0"),
        (b"a", b"{}", b"x:0:1"),
        (b"a", b"{}", b"1:-1:1"),
        (b"a", b"{}", b"99999999999999999999:0:1"),
        (b"\xff", b"{}", b"1:0:1"),
    ],
)
def test_a_record_of_another_format_is_refused_and_changes_nothing(make_table: MakeTable, key: bytes, data: bytes, version: bytes) -> None:
    table = make_table()
    with pytest.raises(ValueError):  # noqa: PT011 - the caller tells them apart by nothing
        table.upsert(key, data, version)
    assert len(table) == 0
    assert table.changes == 0


def test_only_the_newest_rows_are_kept(make_table: MakeTable) -> None:
    table = make_table(rows=2)
    for offset in (5, 1, 9, 3):
        table.upsert(b"%d" % offset, b"{}", b"1:0:%d" % offset)
    assert [row.id for row in table.rows(0, 9)] == ["5", "9"]


def test_rows_that_are_too_old_are_trimmed(make_table: MakeTable) -> None:
    table = make_table(seconds=10)
    for second in (1, 2, 3, 15):
        table.upsert(b"%d" % second, b"{}", b"%d:0:0" % (second * 1000))
    assert table.trim(now_ms=12_500) == 2
    assert [row.id for row in table.rows(0, 9)] == ["3", "15"]
    assert make_table().trim(now_ms=12_500) == 0


def test_followers_hear_of_every_row(make_table: MakeTable) -> None:
    followed: list[tuple[str, str, str]] = []

    class Follower:
        def changed(self, row: Row, before: bytes) -> None:
            followed.append((row.id, before.decode(), row.data.decode()))

    table, follower = make_table(rows=1), Follower()
    table.follow(follower)
    table.upsert(b"a", b"{}", b"1:0:1")
    table.upsert(b"b", b"{}", b"1:0:2")
    table.upsert(b"b", b'{"n":1}', b"1:0:3", b"1:0:2")
    table.delete(b"b", None)
    table.unfollow(follower)
    table.upsert(b"c", b"{}", b"1:0:3")
    assert followed == [("a", "", "{}"), ("b", "", "{}"), ("a", "{}", ""), ("b", "{}", '{"n":1}'), ("b", '{"n":1}', "")]


records = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=40)


@given(records, st.randoms(use_true_random=False), st.sampled_from([None, 3]))
def test_the_order_of_arrival_and_repetition_do_not_matter(written: list[tuple[int, int]], random: random.Random, bound: int | None) -> None:
    """The right side of a version grows while the left one stays: what Spark writes again after a crash changes nothing."""
    tables = [LiveTable("t", COLUMNS, Bound(bound)) for _ in range(2)]
    shuffled = random.sample(written * 2, len(written) * 2)
    for table, order in zip(tables, (written, shuffled), strict=True):
        for id, state in order:
            table.upsert(b"%d" % id, b'{"n":"%d"}' % state, b"%d:0:%d|%d:0:0" % (id // 2, id, state))
    assert content(tables[0]) == content(tables[1])
    newest = {id: max(state for other, state in written if other == id) for id, _ in written}
    expected = sorted(newest.items(), key=lambda item: (item[0] // 2, item[0]))[-bound if bound else 0 :]
    assert content(tables[0]) == [(str(id), b'{"n":"%d"}' % state) for id, state in expected]


Change = tuple[bytes, bytes | None, bytes | None, bytes | None]


def together(changes: Sequence[Change]) -> Changes:
    return Changes(*zip(*changes, strict=True)) if changes else Changes((), (), (), ())


changes = st.lists(
    st.tuples(
        st.sampled_from([b"0", b"1", b"2", b"3", "ä".encode(), b"\xff"]),
        st.sampled_from([b'{"n":"1"}', b'{"n":"2"}', b"oops", b"", None]),
        st.sampled_from([b"1:0:1", b"1:0:2", b"1:0:2|9:0:9", b"1:0:2|", b"2:0:1|x", b"01:0:1", b"1:4294967296:1", b"", None]),
        st.sampled_from([None, None, b"1:0:0", b"0:0:5", b"x"]),
    ),
    max_size=40,
)


@given(changes, st.integers(1, 12), st.booleans(), st.sampled_from([None, 3]))
def test_to_take_many_equals_to_take_them_one_by_one(all: list[Change], size: int, filled: bool, bound: int | None) -> None:
    """Also which of them are refused."""
    many, apart = (LiveTable("t", COLUMNS, Bound(bound)) for _ in range(2))
    refused: list[bytes] = []
    refused_apart: list[bytes] = []
    if filled:
        many.filling = False
    for start in range(0, len(all), size):
        many.take(together(all[start : start + size]), lambda key, error: refused.append(key))
    for key, data, version, order in all:
        try:
            apart.delete(key, version) if data is None else apart.upsert(key, data, version or b"", order)
        except ValueError:
            refused_apart.append(key)
    assert content(many) == content(apart)
    assert bound or refused == refused_apart


def test_a_version_is_looked_at_as_a_whole_from_the_first_on(make_table: MakeTable) -> None:
    table = make_table()
    with pytest.raises(ValueError, match=r"int|unpack"):
        table.upsert(b"a", b"{}", b"1:0:1|x")
    assert len(table) == 0


def test_what_is_too_old_goes_a_part_at_a_time(make_table: MakeTable) -> None:
    table = make_table(seconds=10)
    for number in range(25):
        table.upsert(b"%d" % number, b"{}", b"%d:0:0" % number)
    assert [table.trim(20_000, limit=10) for _ in range(4)] == [10, 10, 5, 0]


@pytest.mark.parametrize("filled", [False, True])
def test_a_row_over_the_bound_costs_about_the_same_whatever_the_bound(make_table: MakeTable, filled: bool) -> None:
    """Nothing is added up again over the whole table for the one row that leaves."""
    table = make_table(rows=20_000)
    table.take(together([(b"%d" % number, b"{}", b"%d:0:0" % number, None) for number in range(20_000)]), lambda key, error: None)
    table.settle(100_000)
    table.filling = not filled
    visited = 0

    class Counted(list[list[bytes]]):
        def __getitem__(self, at: Any) -> Any:
            nonlocal visited
            visited += len(range(*at.indices(len(self)))) if isinstance(at, slice) else 1
            return super().__getitem__(at)

    table._order._places = Counted(table._order._places)
    for number in range(20_000, 20_050):
        table.upsert(b"%d" % number, b"{}", b"%d:0:0" % number)
    assert [row.id for row in table.rows(0, 1)] == ["50"]
    assert visited < 50 * 20


def test_a_keyed_row_stands_where_its_key_was_first_seen_whatever_comes_first() -> None:
    table = LiveTable("t", ())
    table.upsert(b"a", b"{}", b"5:0:5", b"5:0:5")
    table.upsert(b"b", b"{}", b"4:0:4", b"4:0:4")
    assert [row.id for row in table.rows(0, 9)] == ["b", "a"]
    assert table.upsert(b"a", b'{"late":1}', b"5:0:5", b"3:0:9")
    assert [(row.id, row.data) for row in table.rows(0, 9)] == [("a", b"{}"), ("b", b"{}")]
    assert table.upsert(b"a", b'{"new":1}', b"6:0:6", b"5:0:5")
    assert [(row.id, row.data) for row in table.rows(0, 9)] == [("a", b'{"new":1}'), ("b", b"{}")]
    assert not table.upsert(b"a", b'{"old":1}', b"1:0:1", b"3:0:9")
