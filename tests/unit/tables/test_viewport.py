"""V3, V4: whatever happens between two looks, the difference brings a viewer from one to the other."""

from dataclasses import dataclass, field

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Bound, Column
from tablecast.client.model import WindowModel
from tablecast.tables.live_table import LiveTable
from tablecast.tables.view import SortKey, ViewSpec, make_view
from tablecast.tables.viewport import Difference, Snapshot, Viewport
from tablecast.tables.window import Window
from tablecast.wire.frames import frame_body, frame_head
from tablecast.wire.messages import Frame, decode_server

COLUMNS = (Column("n", "int64"),)


@dataclass
class Looker:
    """A viewer who sometimes looks, and applies what comes as a client would."""

    model: WindowModel = field(default_factory=WindowModel)
    seen: Snapshot | None = None
    revision: int = 0

    def look(self, viewport: Viewport) -> Difference | None:
        snapshot = viewport.snapshot()
        difference = snapshot.since(self.seen)
        self.seen = snapshot
        if difference is not None:
            self.revision += 1
            body = frame_body(difference.total, difference.offset, difference.ids, difference.rows)
            frame = decode_server(frame_head(1, 1, 1, self.revision) + body)
            assert isinstance(frame, Frame)
            assert self.model.apply(frame)
        return difference


def upsert(table: LiveTable, id: int, value: int, version: int) -> None:
    table.upsert(b"%d" % id, b'{"n":"%d"}' % value, b"1:0:%d" % version, b"%d:0:0" % id)


def test_only_what_changed_is_in_a_difference() -> None:
    table = LiveTable("t", COLUMNS)
    viewport = Viewport(make_view(table, ViewSpec()), Window(0, 2))
    looker = Looker()
    assert looker.look(viewport) == Difference(0, 0, [], [])
    upsert(table, 1, 1, 1)
    upsert(table, 2, 2, 2)
    assert looker.look(viewport) == Difference(2, 0, ["1", "2"], [("1", b'{"n":"1"}'), ("2", b'{"n":"2"}')])
    assert looker.look(viewport) is None
    upsert(table, 2, 5, 3)
    assert looker.look(viewport) == Difference(2, 0, None, [("2", b'{"n":"5"}')])
    upsert(table, 3, 3, 4)
    assert looker.look(viewport) == Difference(3, 0, None, [])
    table.delete(b"1", None)
    assert looker.look(viewport) == Difference(2, 0, ["2", "3"], [("3", b'{"n":"3"}')])


def test_a_row_that_was_written_again_as_it_was_is_no_change() -> None:
    table = LiveTable("t", COLUMNS)
    viewport = Viewport(make_view(table, ViewSpec()), Window(0, 2))
    looker = Looker()
    upsert(table, 1, 1, 1)
    looker.look(viewport)
    upsert(table, 1, 1, 2)
    assert looker.look(viewport) is None


def test_the_window_slides_back_when_the_table_shrinks() -> None:
    table = LiveTable("t", COLUMNS)
    for id in range(6):
        upsert(table, id, id, id)
    viewport = Viewport(make_view(table, ViewSpec()), Window(4, 2))
    looker = Looker()
    looker.look(viewport)
    table.delete(b"0", None)
    difference = looker.look(viewport)
    assert difference is not None
    assert (difference.offset, difference.ids, difference.rows) == (3, None, [])


def test_a_window_ends_where_its_rows_are_too_many_bytes_and_has_one_at_least() -> None:
    table = LiveTable("t", COLUMNS)
    for id in range(5):
        upsert(table, id, 10**id, id)
    view = make_view(table, ViewSpec())
    for limit, rows in ((1, 1), (20, 2), (1000, 5)):
        snapshot = Viewport(view, Window(0, 5, limit)).snapshot()
        assert (len(snapshot.rows), snapshot.total) == (rows, 5)


def test_viewers_who_saw_the_same_share_a_difference() -> None:
    table = LiveTable("t", COLUMNS)
    viewport = Viewport(make_view(table, ViewSpec()), Window(0, 2))
    first, second = Looker(), Looker()
    assert first.look(viewport) is second.look(viewport)
    upsert(table, 1, 1, 1)
    assert first.look(viewport) is second.look(viewport)


changes = st.tuples(st.integers(0, 9), st.one_of(st.none(), st.integers(0, 3)))
looks = st.sets(st.integers(0, 2), max_size=3)
views = st.sampled_from([ViewSpec(), ViewSpec((SortKey("n", True),)), ViewSpec(search="2")])
windows = st.builds(Window, st.integers(0, 12), st.integers(1, 5))


@given(st.lists(st.tuples(st.lists(changes, max_size=4), looks), max_size=12), views, windows, st.sampled_from([None, 5]))
def test_replaying_differences_gives_the_window(
    moments: list[tuple[list[tuple[int, int | None]], set[int]]], spec: ViewSpec, window: Window, bound: int | None
) -> None:
    """Three viewers of one viewport look at moments of their own; who looks has exactly what the table has."""
    table = LiveTable("t", COLUMNS, Bound(bound))
    view = make_view(table, spec)
    viewport = Viewport(view, window)
    lookers = [Looker(), Looker(), Looker()]
    version = 0
    for happened, looking in moments:
        for id, value in happened:
            version += 1
            if value is None:
                table.delete(b"%d" % id, None)
            else:
                upsert(table, id, value, version)
        for index in looking:
            lookers[index].look(viewport)
            state = lookers[index].model.window
            assert state is not None
            start = min(window.offset, max(0, view.total - window.size))
            expected = [(row.id, msgspec.json.decode(row.data)) for row in view.rows(start, start + window.size)]
            assert (state.total, state.offset, list(state.rows)) == (view.total, start, expected)
