"""V2: equal views are made once, and really go when the last one leaves."""

from collections.abc import Iterator

import pytest

from tablecast.catalog import Column
from tablecast.errors import BadView, UnknownTable, ViewerError, ViewFailed
from tablecast.tables.generation import Generation, SharedViews
from tablecast.tables.group import Aggregate, Grouping
from tablecast.tables.live_table import LiveTable
from tablecast.tables.view import SortKey, ViewSpec
from tablecast.tables.window import Window

BY_N = ViewSpec((SortKey("n"),))


class Somebody:
    def __init__(self) -> None:
        self.touches = 0

    def touched(self) -> None:
        self.touches += 1

    def broken(self, error: ViewerError) -> None:
        self.touches = -1


def shared() -> SharedViews:
    return SharedViews(LiveTable("t", [Column("n", "int64")]))


def test_equal_windows_share_a_viewport_and_equal_specs_a_view() -> None:
    views, one, other = shared(), Somebody(), Somebody()
    first = views.open(BY_N, Window(0, 5), one)
    assert views.open(BY_N, Window(0, 5), other) is first
    assert views.open(BY_N, Window(5, 5), other).source is first.source
    assert views.open(ViewSpec(), Window(0, 5), other).source is not first.source


def test_a_view_that_has_failed_is_told_to_all_and_made_anew() -> None:
    views, one, other, third = shared(), Somebody(), Somebody(), Somebody()
    failed = [views.open(BY_N, Window(start, 5), holder) for start, holder in ((0, one), (5, other))]
    views.open(ViewSpec(), Window(0, 5), third)
    views.break_off(BY_N, ViewFailed("t"))
    assert [somebody.touches for somebody in (one, other, third)] == [-1, -1, 0]
    again = views.open(BY_N, Window(0, 5), one)
    assert again.source is not failed[0].source
    failed[0].release(one)
    assert views.open(BY_N, Window(0, 5), other) is again


def test_the_last_to_leave_takes_the_view_away() -> None:
    views, one, other = shared(), Somebody(), Somebody()
    first = views.open(BY_N, Window(0, 5), one)
    second = views.open(BY_N, Window(5, 5), other)
    first.release(one)
    assert views.specs() == {BY_N}
    second.release(other)
    second.release(other)
    assert views.specs() == set()
    assert list(views.viewports()) == []
    again = views.open(BY_N, Window(5, 5), one)
    second.release(other)
    assert list(views.viewports()) == [again]


def test_holders_are_told_once_for_many_changes() -> None:
    views, one = shared(), Somebody()
    viewport = views.open(ViewSpec(), Window(0, 5), one)
    viewport.tell()
    assert one.touches == 0
    views.table.upsert(b"a", b'{"n":"1"}', b"1:0:1")
    views.table.upsert(b"b", b'{"n":"1"}', b"1:0:2")
    viewport.tell()
    viewport.tell()
    assert one.touches == 1


def test_a_view_of_many_groups_that_is_left_half_built_is_not_finished_first(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Iterator[None]] = []
    monkeypatch.setattr("tablecast.tables.generation.SMALL", 5)
    monkeypatch.setattr("tablecast.tables.generation._DISMANTLER.take", given.append)
    views, one = shared(), Somebody()
    for number in range(20):
        views.table.upsert(b"%d" % number, b'{"n":"%d"}' % number, b"1:0:%d" % number)
    viewport = views.open(ViewSpec(group=Grouping(("n",), (Aggregate("count"),))), Window(0, 5), one)
    viewport.source.build(10)
    viewport.release(one)
    assert len(given) == 1
    assert viewport.source.held == 10, "the groups are still as they were tallied"
    for _ in given[0]:
        pass
    assert viewport.source.held == 0


def test_a_view_that_is_dropped_from_two_sides_goes_once() -> None:
    views, one = shared(), Somebody()
    views.table.upsert(b"a", b'{"n":"1"}', b"1:0:1")
    viewport = views.open(BY_N, Window(0, 5), one)
    views.keep_only(frozenset())
    viewport.release(one)
    assert (views.specs(), list(views.viewports())) == (set(), [])


def test_a_refused_view_leaves_nothing_behind() -> None:
    views = shared()
    with pytest.raises(BadView):
        views.open(ViewSpec((SortKey("x"),)), Window(0, 5), Somebody())
    assert views.specs() == set()


def test_prepared_views_that_nobody_wants_are_forgotten() -> None:
    views, one = shared(), Somebody()
    views.prepare(BY_N)
    views.prepare(ViewSpec(search="x"))
    views.open(BY_N, Window(0, 5), one)
    views.forget_unused()
    assert views.specs() == {BY_N}


def test_only_the_wanted_views_are_kept() -> None:
    views = shared()
    for spec in (BY_N, ViewSpec(search="x")):
        views.prepare(spec)
    views.keep_only({BY_N, ViewSpec(search="y")})
    assert views.specs() == {BY_N}


def test_a_dismantled_generation_has_nothing_left() -> None:
    generation = Generation(1, [LiveTable("t", [Column("n", "int64")])], {})
    views = generation.find("t")
    for number in range(3):
        views.table.upsert(b"%d" % number, b"{}", b"1:0:%d" % number)
    views.table.delete(b"0", b"2:0:0")
    views.prepare(BY_N)
    generation.dismantle()
    assert (len(views.table), views.table.rows(0, 9), views.specs()) == (0, [], set())


def test_tables_are_found_by_name_and_alias() -> None:
    generation = Generation(3, [LiveTable("users_ui", []), LiveTable("account", [])], {"user": "users_ui", "account": "users_ui", "ghost": "gone"})
    assert generation.find("user").table.name == "users_ui"
    assert generation.find("account").table.name == "account"
    for name in ("nope", "ghost", ""):
        with pytest.raises(UnknownTable, match="no table"):
            generation.find(name)
