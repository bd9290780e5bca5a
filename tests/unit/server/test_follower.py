"""T6 and H4 without a broker: what becomes of records."""

import threading
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field

import pytest

from tablecast.errors import GroupsTooMany
from tablecast.kafka.status import ColumnStatus, GenerationStatus, State, TableStatus
from tablecast.server.follower import IN_FLIGHT, GenerationFollower, StatusFollower
from tablecast.tables.group import Grouping
from tablecast.tables.view import SortKey, ViewSpec

BY_N = ViewSpec((SortKey("n"),))


@dataclass
class FakeMessage:
    """What the reader hands over, as far as we look at it."""

    topic_: str
    key_: bytes | None
    value_: bytes | None
    headers_: list[tuple[str, bytes]] | None = None

    def topic(self) -> str:
        return self.topic_

    def key(self) -> bytes | None:
        return self.key_

    def value(self) -> bytes | None:
        return self.value_

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self.headers_


@dataclass
class Loop:
    """Runs what was posted when it is told."""

    steps: list[Callable[[], None]] = field(default_factory=list)

    def post(self, step: Callable[[], None]) -> None:
        self.steps.append(step)

    def run(self) -> None:
        while self.steps:
            self.steps.pop(0)()


@dataclass
class Events:
    heard: list[str] = field(default_factory=list)

    def filled(self, follower: GenerationFollower) -> None:
        self.heard.append("filled")

    def waits(self, follower: GenerationFollower) -> None:
        self.heard.append(f"waits {follower.missing}")

    def lost(self, follower: GenerationFollower, reason: str) -> None:
        self.heard.append(f"lost {reason}")

    def applied(self, records: int) -> None:
        self.heard.append(f"applied {records}")


@dataclass
class Place:
    """How far a reader is, as a test says."""

    behind: set[tuple[str, int]] = field(default_factory=set)
    positions: dict[str, int] = field(default_factory=dict)

    def position(self, topic: str) -> int:
        return self.positions.get(topic, 0)


def status(generation: int, state: State = "live", ends: dict[str, int] | None = None) -> GenerationStatus:
    columns = (ColumnStatus("n", "int64"), ColumnStatus("shape", "hexagon"))
    tables = {"users": TableStatus("changelog", columns, max_rows=3)}
    return GenerationStatus(generation, state, {}, tables, {"user": "users"}, "f", "2026-01-01T00:00:00Z", ends=ends or {})


def record(id: str, value: bytes | None, version: bytes | None) -> FakeMessage:
    return FakeMessage("changelog", id.encode(), value, [("version", version)] if version else None)


@dataclass
class Filling:
    follower: GenerationFollower
    loop: Loop
    events: Events
    wanted: dict[str, Set[ViewSpec]]

    def ids(self) -> list[str]:
        return [row.id for row in self.follower.generation.find("users").table.rows(0, 9)]

    def come(self, *messages: FakeMessage) -> None:
        self.follower.records(list(messages))  # type: ignore[arg-type]


@pytest.fixture
def filling() -> Filling:
    loop, events = Loop(), Events()
    wanted: dict[str, Set[ViewSpec]] = {"users": {BY_N, ViewSpec((SortKey("gone"),))}, "vanished": {BY_N}}
    return Filling(GenerationFollower(status(1), loop.post, lambda: wanted, events), loop, events, wanted)


def test_it_fills_apart_and_applies_on_the_loop_afterwards(filling: Filling) -> None:
    filling.come(record("a", b'{"n":"1"}', b"1:0:1"), record("b", b'{"n":"2"}', b"1:0:2"))
    assert filling.ids() == ["a", "b"]
    assert filling.loop.steps == []
    filling.follower.turn(Place())
    filling.come(record("a", None, b"1:0:3"))
    assert filling.ids() == ["a", "b"]
    filling.loop.run()
    assert filling.ids() == ["b"]
    assert filling.events.heard == ["filled", "applied 1"]
    assert filling.follower.read == 2


def test_open_views_are_ready_before_the_flip(filling: Filling) -> None:
    filling.come(record("a", b'{"n":"1"}', b"1:0:1"))
    filling.follower.turn(Place())
    views = filling.follower.generation.find("users")
    assert views.specs() == {BY_N}
    assert views.prepare(BY_N).ready


def test_it_is_handed_over_when_it_is_live_and_read_to_its_ends(filling: Filling) -> None:
    follower = filling.follower
    for state in ("building", "hydrating", "ready"):
        follower.status = status(1, state, {"changelog": 2})
        filling.come(record("a", b'{"n":"1"}', b"1:0:1"))
        assert not follower.turn(Place(positions={"changelog": 2}))
    follower.status = status(1, "live", {"changelog": 3})
    assert not follower.turn(Place(positions={"changelog": 2}))
    filling.loop.run()
    assert filling.events.heard == []
    assert not follower.turn(Place({("changelog", 0)}, {"changelog": 3}))
    assert filling.loop.steps == [], "there is more than the ends, and it is not read yet"
    assert not follower.turn(Place(positions={"changelog": 3}))
    filling.come(record("b", b'{"n":"2"}', b"1:0:2"))
    assert filling.ids() == ["a"]
    filling.loop.run()
    assert filling.events.heard == ["filled", "applied 1"]
    assert filling.ids() == ["a", "b"]


def test_without_ends_it_is_handed_over_when_all_that_was_there_is_read(filling: Filling) -> None:
    assert not filling.follower.turn(Place({("changelog", 0)}))
    assert filling.loop.steps == []
    filling.follower.turn(Place())
    filling.loop.run()
    assert filling.events.heard == ["filled"]


def test_views_are_built_in_turns_and_follow_what_viewers_have_open(filling: Filling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablecast.server.follower.BUILD_ROWS", 2)
    follower, views = filling.follower, filling.follower.generation.find("users")
    follower.status = status(1, "hydrating")
    assert not follower.turn(Place({("changelog", 0)}))
    assert views.specs() == set()
    filling.come(*(record(name, b'{"n":"1"}', b"1:0:1") for name in "abc"))
    assert follower.turn(Place())
    assert not follower.turn(Place())
    assert views.prepare(BY_N).ready
    filling.wanted["users"] = {ViewSpec(search="1")}
    assert follower.turn(Place())
    follower.status = status(1, "live")
    assert filling.loop.steps == []
    assert not follower.turn(Place())
    assert len(filling.loop.steps) == 1
    assert views.specs() == {ViewSpec(search="1")}


def test_a_view_that_cannot_be_built_holds_up_no_flip(filling: Filling, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("tablecast.tables.view.ShapedView.build", lambda self, limit: 1 // 0)
    filling.come(record("a", b'{"n":"1"}', b"1:0:1"))
    filling.follower.turn(Place())
    filling.loop.run()
    assert filling.events.heard == ["filled"]
    assert "ZeroDivisionError" in caplog.text


def test_a_view_of_too_many_groups_holds_up_no_flip(filling: Filling, caplog: pytest.LogCaptureFixture) -> None:
    """Who looks at it is told at the flip."""
    by_n = ViewSpec(group=Grouping(("n",), ()))
    filling.wanted["users"] = {by_n}
    follower = GenerationFollower(status(1), filling.loop.post, lambda: filling.wanted, filling.events, most_groups=2)
    follower.records([record(id, b'{"n":"%d"}' % n, b"1:0:1") for n, id in enumerate("abc")])  # type: ignore[misc]
    follower.turn(Place())
    filling.loop.run()
    assert filling.events.heard == ["filled"]
    views = follower.generation.find("users")
    assert views.specs() == set()
    with pytest.raises(GroupsTooMany, match="more than 2"):
        views.prepare(by_n).build(9)
    assert caplog.records == []


def test_a_record_of_another_format_is_counted_and_skipped(filling: Filling, caplog: pytest.LogCaptureFixture) -> None:
    filling.come(record("a", b"oops", b"1:0:1"), record("b", b"{}", None), FakeMessage("changelog", None, b"{}", []), record("c", b"{}", b"1:0:3"))
    assert (filling.ids(), filling.follower.rejected) == (["c"], 3)
    assert len(caplog.records) == 1


def test_bounds_aliases_and_unknown_types_come_from_the_status(filling: Filling) -> None:
    filling.come(*(record(str(n), b"{}", b"1:0:%d" % n) for n in range(5)))
    assert filling.ids() == ["2", "3", "4"]
    assert [column.type for column in filling.follower.generation.find("user").table.columns] == ["int64", "string"]


def test_what_comes_after_it_was_abandoned_is_dropped(filling: Filling) -> None:
    filling.follower.turn(Place())
    filling.come(record("a", b"{}", b"1:0:1"))
    filling.follower.abandon()
    filling.loop.run()
    assert filling.ids() == []
    for _ in range(20):
        filling.come(record("a", b"{}", b"1:0:1"))


def test_much_at_once_lands_in_slices_and_waits_for_the_loop(filling: Filling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablecast.server.follower.LANDING", 2)
    filling.follower.turn(Place())
    filling.loop.run()
    reader = threading.Thread(target=filling.come, args=[record(str(n), b"{}", b"1:0:%d" % n) for n in range(7)])
    reader.start()
    longest = 0
    while reader.is_alive() or filling.loop.steps:
        longest = max(longest, len(filling.loop.steps))
        filling.loop.run()
    assert filling.events.heard == ["filled", "applied 2", "applied 2", "applied 2", "applied 1"]
    assert (longest <= IN_FLIGHT, filling.ids()) == (True, ["4", "5", "6"])


def test_trouble_is_passed_on(filling: Filling) -> None:
    filling.follower.waits(["changelog"])
    filling.follower.lost("deleted")
    filling.loop.run()
    assert filling.events.heard == ["waits ('changelog',)", "lost deleted"]


def test_statuses_are_told_once_all_are_read_and_then_at_each_change(caplog: pytest.LogCaptureFixture) -> None:
    loop = Loop()
    told: list[list[tuple[int, str]]] = []
    transitions = Counter[str]()
    follower = StatusFollower(
        loop.post,
        lambda self: told.append([(known.generation, known.state) for known in self.generations.values()]),
        lambda self, reason: None,
        transitions,
    )

    def come(key: bytes, value: bytes | None) -> None:
        follower.records([FakeMessage("status", key, value)])  # type: ignore[list-item]
        loop.run()

    come(b"1", status(1).encode())
    come(b"2", b"not a status")
    assert told == []
    follower.turn(Place({("status", 0)}))
    loop.run()
    assert told == []
    follower.turn(Place())
    loop.run()
    come(b"2", status(2, "building").encode())
    come(b"1", None)
    assert told == [[(1, "live")], [(1, "live"), (2, "building")], [(2, "building")]]
    come(b"2", status(2, "building", {"c": 7}).encode())
    come(b"2", status(2, "live").encode())
    assert transitions == {"building": 1, "live": 1}, "what stood there before has not happened now"
    assert "not readable" in caplog.text
