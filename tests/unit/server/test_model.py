"""V2 to V5 against a plain-Python model: whatever viewers ask and whatever happens, each frame that they get, replayed, gives the model's window.

Several sessions talk to one hub as bytes in, bytes out. They share views or not, move, reshape, close, listen slowly or not at all for a while;
rows come, change, leave and change their places; views are built a slice at a time between all that; generations with other rows flip in.
"""

import asyncio
import math
import operator
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from pydantic import SecretStr

from tablecast.catalog import Column
from tablecast.client.model import WindowModel
from tablecast.server.auth import Gate
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.server.session import Session
from tablecast.settings import ServerSettings
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable
from tablecast.wire.messages import (
    Close,
    Closed,
    Error,
    Find,
    Found,
    Frame,
    Login,
    Move,
    Open,
    Opened,
    Shape,
    Sort,
    Took,
    ViewerMessage,
    decode_server,
    encode,
)

from .talking import KEY

T = TypeVar("T")
Row = dict[str, Any]
Entry = tuple[str, Row]

COLUMNS = (
    Column("kind", "string"),
    Column("age", "int64"),
    Column("balance", "double"),
    Column("vip", "boolean"),
    Column("at", "timestamp"),
    Column("city", "string"),
)
TYPES: dict[str, str] = {column.name: column.type for column in COLUMNS}
KINDS = ("a", "å", "ab", "b", "B")
CITIES = ("Åre", "Bern", "Xanten")
GERMAN = {text: place for place, text in enumerate(("a", "å", "ab", "Åre", "b", "B", "Bern", "Xanten"))}
"""The texts of the model, in the order of the locale de; by code points it is another one."""
MOMENTS = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000000+01:00", "1969-12-31T23:59:59.999999Z")
FILTERS: tuple[dict[str, Any], ...] = (
    {"op": "ge", "column": "age", "value": "0"},
    {"op": "not", "of": {"op": "or", "of": [{"op": "gt", "column": "balance", "value": 1}, {"op": "in", "column": "kind", "values": ["b"]}]}},
    {"op": "eq", "column": "vip", "value": True},
    {"op": "ne", "column": "balance", "value": 0},
    {"op": "lt", "column": "at", "value": "2026-01-01T00:00:00Z"},
    {"op": "le", "column": "age", "value": "1"},
    {"op": "contains", "column": "city", "value": "R"},
    {"op": "starts", "column": "kind", "value": "A"},
    {"op": "null", "column": "at"},
    {"op": "and", "of": [{"op": "ne", "column": "kind", "value": "a"}, {"op": "eq", "column": "at", "value": "2026-01-01T00:00:00.000Z"}]},
)
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
FIGURES = (("count", None), ("max", "age"), ("sum", "balance"), ("min", "at"))
BY_KIND = {"by": ["kind"], "aggregates": [{"op": op, "column": column} for op, column in FIGURES]}
GROUP_TYPES = {"kind": "string", "count": "int64", "max_age": "int64", "sum_balance": "double", "min_at": "timestamp"}


@dataclass(frozen=True)
class Look:
    """What a viewer asks for."""

    sort: tuple[Sort, ...] = ()
    filter: dict[str, Any] | None = None
    search: str | None = None
    group: dict[str, Any] | None = None
    offset: int = 0
    size: int = 3


@dataclass
class Content:
    """The rows of a generation, and where each of them stands."""

    rows: dict[int, Row] = field(default_factory=dict)
    orders: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: dict[int, Row]) -> "Content":
        return cls(dict(rows), {id: id % 5 for id in rows})


TYPED: dict[str, Callable[[Any], Any]] = {"string": str, "int64": int, "double": float, "boolean": bool, "timestamp": datetime.fromisoformat}


def value(row: Row, key: Sort, types: dict[str, str]) -> Any:
    cell = row[key.column]
    if cell is None:
        return None
    return GERMAN[cell] if types[key.column] == "string" and key.locale == "de" else TYPED[types[key.column]](cell)


def compared(one: Any, other: Any, descending: bool) -> int:
    """Values before NaN before null, in both directions."""
    ranks = [2 if cell is None else 1 if isinstance(cell, float) and math.isnan(cell) else 0 for cell in (one, other)]
    if ranks != [0, 0]:
        return ranks[0] - ranks[1]
    return (int(one > other) - int(one < other)) * (-1 if descending else 1)


def sorted_by(entries: list[Entry], sort: tuple[Sort, ...], types: dict[str, str]) -> list[Entry]:
    def compare(left: Entry, right: Entry) -> int:
        orders = (compared(value(left[1], key, types), value(right[1], key, types), key.descending) for key in sort)
        return next((order for order in orders if order), 0)

    return sorted(entries, key=cmp_to_key(compare))


def fulfils(row: Row, condition: dict[str, Any]) -> bool:
    match condition:
        case {"op": "not", "of": part}:
            return not fulfils(row, part)
        case {"op": "and", "of": parts}:
            return all(fulfils(row, part) for part in parts)
        case {"op": "or", "of": parts}:
            return any(fulfils(row, part) for part in parts)
    cell = row[condition["column"]]
    return cell is None if condition["op"] == "null" else cell is not None and fits(cell, condition)


def fits(cell: Any, condition: dict[str, Any]) -> bool:
    match condition:
        case {"op": "in", "values": values}:
            return cell in values
        case {"op": "contains", "value": text}:
            return text.lower() in cell.lower()
        case {"op": "starts", "value": text}:
            return bool(cell.lower().startswith(text.lower()))
    typed = TYPED[TYPES[condition["column"]]]
    return COMPARE[condition["op"]](compared(typed(cell), typed(condition["value"]), False), 0)


def selected(row: Row, look: Look) -> bool:
    if look.filter is not None and not fulfils(row, look.filter):
        return False
    return look.search is None or any(look.search.lower() in (row[column] or "").lower() for column in ("kind", "city"))


def modelled(content: Content, look: Look) -> list[Entry]:
    """The whole view, by the simplest means."""
    ids = sorted(content.rows, key=lambda id: (content.orders[id], str(id)))
    rows = [(str(id), content.rows[id]) for id in ids if selected(content.rows[id], look)]
    if look.group is None:
        return sorted_by(rows, look.sort, TYPES)
    kinds = {row["kind"] for _, row in rows}
    groups = [(msgspec.json.encode([kind]).decode(), summed(kind, [row for _, row in rows if row["kind"] == kind])) for kind in kinds]
    return sorted_by(groups, (*look.sort, Sort("kind")), GROUP_TYPES)


def summed(kind: str | None, rows: list[Row]) -> Row:
    ages = [int(row["age"]) for row in rows if row["age"] is not None]
    balances = [float(row["balance"]) for row in rows if row["balance"] is not None]
    total: Any = math.fsum(number for number in balances if math.isfinite(number)) if balances else None
    if any(map(math.isnan, balances)):
        total = "NaN"
    elif math.inf in balances:
        total = "Infinity"
    moments = [datetime.fromisoformat(row["at"]).astimezone(UTC).replace(tzinfo=None) for row in rows if row["at"] is not None]
    first = f"{min(moments).isoformat(timespec='microseconds')}Z" if moments else None
    return {"kind": kind, "count": str(len(rows)), "max_age": str(max(ages)) if ages else None, "sum_balance": total, "min_at": first}


@dataclass
class Shown:
    """What a viewer has asked for under one number, and what it shows."""

    look: Look
    request: int = 1
    ahead: int = 0
    revision: int = 0
    took: int = 0
    client: WindowModel = field(default_factory=WindowModel)
    columns: tuple[str, ...] = ()


class Viewer:
    """A session, and a client at its other end."""

    def __init__(self, hub: Hub) -> None:
        self.session = Session(hub, Gate(Keys(SecretStr(KEY))), ServerSettings(messages_per_second=100_000))
        hub.audience.add(self.session)
        self.subs: dict[int, Shown] = {}
        self.closing: list[int] = []
        self.say(Login(KEY))

    def say(self, message: ViewerMessage) -> None:
        self.session.receive(encode(message))

    def hear(self, generation: int, content: Content) -> bool:
        """Takes what is to be sent next. A frame is cut at this moment, so it is never older than this moment's content."""
        messages = self.session.outbox.take()
        for message in map(decode_server, messages):
            assert not isinstance(message, Error), message
            if isinstance(message, Closed):
                self.closing.remove(message.sub)
            elif isinstance(message, Opened):
                self.subs[message.sub].columns = tuple(column.name for column in message.columns)
            elif isinstance(message, Frame):
                assert message.sub not in self.closing
                self._apply(self.subs[message.sub], message)
                self.check(message.sub, generation, content)
            elif isinstance(message, Found):
                order = [id for id, _ in modelled(content, self.subs[message.sub].look)]
                assert message.index == (order.index(message.row) if message.row in order else None)
        return bool(messages)

    def take(self) -> bool:
        """Says that it is done with all frames that it has. Whether there were any."""
        news = [(sub, shown) for sub, shown in self.subs.items() if shown.took < shown.revision]
        for sub, shown in news:
            shown.took = shown.revision
            self.say(Took(sub, shown.took))
        return bool(news)

    def _apply(self, shown: Shown, frame: Frame) -> None:
        assert (frame.request, frame.revision) == (shown.request, shown.revision + 1)
        whole = shown.client.window is None or shown.client.window.generation != frame.generation or frame.request != shown.client.request
        shown.revision = frame.revision
        assert shown.ahead == 0 or whole or shown.revision - shown.took <= shown.ahead
        shown.client.request = shown.request
        assert shown.client.apply(frame)

    def check(self, sub: int, generation: int, content: Content) -> None:
        shown = self.subs[sub]
        state, expected = shown.client.window, modelled(content, shown.look)
        assert state is not None
        start = min(shown.look.offset, max(0, len(expected) - shown.look.size))
        assert (state.generation, state.total, state.offset) == (generation, len(expected), start)
        assert list(state.rows) == expected[start : start + shown.look.size]
        assert shown.columns == tuple(TYPES if shown.look.group is None else GROUP_TYPES)


texts = st.one_of(st.none(), st.sampled_from(KINDS))
rows = st.fixed_dictionaries(
    {
        "kind": texts,
        "age": st.one_of(st.none(), st.integers(-2, 2).map(str)),
        "balance": st.one_of(st.none(), st.sampled_from(["NaN", "Infinity", -1.5, 0, 2.5])),
        "vip": st.sampled_from([None, False, True]),
        "at": st.one_of(st.none(), st.sampled_from(MOMENTS)),
        "city": st.one_of(st.none(), st.sampled_from(CITIES)),
    }
)
ids = st.integers(0, 11)
sorts = st.builds(Sort, st.sampled_from(sorted(TYPES)), st.booleans(), st.sampled_from([msgspec.UNSET, "de"]))
group_sorts = st.builds(Sort, st.sampled_from(sorted(GROUP_TYPES)), st.booleans())
windows = {"offset": st.integers(0, 12), "size": st.integers(1, 5)}
picks: dict[str, st.SearchStrategy[Any]] = {
    "filter": st.sampled_from([None, *FILTERS]),
    "search": st.sampled_from([None, "A", "å", "ern"]),
    **windows,
}
looks = st.one_of(
    st.builds(Look, st.lists(sorts, max_size=3, unique_by=lambda key: key.column).map(tuple), **picks),
    st.builds(Look, st.lists(group_sorts, max_size=2, unique_by=lambda key: key.column).map(tuple), group=st.just(BY_KIND), **picks),
)
viewers = st.integers(0, 2)
subs = st.integers(1, 2)


class Happenings(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.content = Content()
        self.versions = 0
        self.number = 0
        self.hub = Hub()
        self.viewers: list[Viewer] = []

    def teardown(self) -> None:
        try:
            self.do(self.settle())
            for viewer in self.viewers:
                viewer.session.close(1000)
            assert not any(self.hub.wanted().values())
        finally:
            self.runner.close()

    def do(self, step: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(step)

    @initialize(first=st.dictionaries(ids, rows))
    def begin(self, first: dict[int, Row]) -> None:
        self.do(self.flip_to(Content.of(first)))
        self.viewers = [Viewer(self.hub) for _ in range(3)]

    @rule(id=ids, row=rows, order=st.integers(0, 4))
    def write(self, id: int, row: Row, order: int) -> None:
        """A row stands at the earliest order that was ever said of it."""
        self.content.orders[id] = min(order, self.content.orders.get(id, order)) if id in self.content.rows else order
        self.content.rows[id] = row
        self.put(self.hub.current(), id, row, order)

    @rule(id=ids)
    def delete(self, id: int) -> None:
        self.content.rows.pop(id, None)
        self.hub.current().find("people").table.delete(b"%d" % id, None)

    @rule(who=viewers, sub=subs, look=looks, ahead=st.integers(0, 2))
    def ask(self, who: int, sub: int, look: Look, ahead: int) -> None:
        async def step() -> None:
            viewer = self.viewers[who]
            shown = viewer.subs.get(sub)
            if shown is None:
                viewer.subs[sub] = Shown(look, ahead=ahead)
                viewer.say(Open(sub, 1, "people", look.offset, look.size, look.sort, look.filter, look.search, look.group, ahead))
            else:
                shown.look, shown.request = look, shown.request + 1
                viewer.say(Shape(sub, shown.request, look.offset, look.size, look.sort, look.filter, look.search, look.group))

        self.do(step())

    @precondition(lambda self: any(viewer.subs for viewer in self.viewers))
    @rule(data=st.data(), offset=windows["offset"], size=windows["size"])
    def move(self, data: st.DataObject, offset: int, size: int) -> None:
        async def step() -> None:
            viewer = data.draw(st.sampled_from([viewer for viewer in self.viewers if viewer.subs]))
            sub = data.draw(st.sampled_from(sorted(viewer.subs)))
            shown = viewer.subs[sub]
            shown.look, shown.request = replace(shown.look, offset=offset, size=size), shown.request + 1
            viewer.say(Move(sub, shown.request, offset, size))

        self.do(step())

    @rule(who=viewers, sub=subs, row=st.one_of(ids.map(str), texts.map(lambda text: msgspec.json.encode([text]).decode())))
    def find(self, who: int, sub: int, row: str) -> None:
        if sub in self.viewers[who].subs:
            self.viewers[who].say(Find(sub, row))

    @rule(who=viewers, sub=subs)
    def close(self, who: int, sub: int) -> None:
        viewer = self.viewers[who]
        if viewer.subs.pop(sub, None) is not None:
            viewer.closing.append(sub)
            viewer.say(Close(sub))

    @rule(turns=st.integers(1, 4))
    def wait(self, turns: int) -> None:
        """The builder goes on."""
        self.do(self.turns(turns))

    @rule()
    def tick(self) -> None:
        self.hub._tell()

    @rule(limit=st.integers(1, 3))
    def keep_up(self, limit: int) -> None:
        """What views have put off is done by and by."""
        for _, view in self.hub.current().find("people").shown():
            view.build(limit)

    @rule(who=viewers, takes=st.booleans())
    def hear(self, who: int, takes: bool) -> None:
        """It may be done with what it has heard before it hears more."""
        if takes:
            self.viewers[who].take()
        self.viewers[who].hear(self.number, self.content)

    @rule(other=st.one_of(st.none(), st.dictionaries(ids, rows)))
    def flip(self, other: dict[int, Row] | None) -> None:
        """To the same rows or to others."""
        self.do(self.flip_to(self.content if other is None else Content.of(other)))

    @rule()
    def look_at_all(self) -> None:
        self.do(self.settle())

    async def flip_to(self, content: Content) -> None:
        before = self.hub.generation
        self.number += 1
        self.content = content
        generation = Generation(self.number, [LiveTable("people", COLUMNS)], {})
        for id, row in content.rows.items():
            self.put(generation, id, row, content.orders[id])
        self.hub.flip(generation)
        if before is not None:
            before.dismantle()

    async def settle(self) -> None:
        """Until nobody has anything to hear: then all show what is."""
        self.hub._tell()
        views = self.hub.current().find("people")
        while any(viewer.hear(self.number, self.content) or viewer.take() for viewer in self.viewers) or not all(
            viewport.ready for viewport in views.viewports()
        ):
            await self.turns(1)
        for viewer in self.viewers:
            for sub in viewer.subs:
                viewer.check(sub, self.number, self.content)

    async def turns(self, count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    def put(self, generation: Generation, id: int, row: Row, order: int) -> None:
        self.versions += 1
        generation.find("people").table.upsert(b"%d" % id, msgspec.json.encode(row), b"1:0:%d" % self.versions, b"1:0:%d" % order)


def test_replaying_frames_gives_the_models_window(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("builder", "hub"):
        monkeypatch.setattr(f"tablecast.server.{module}.BUILD_ROWS", 3)
    monkeypatch.setattr("tablecast.tables.generation.give_back", lambda: None)
    monkeypatch.setattr("tablecast.tables.near_first.MARGIN", 1)
    monkeypatch.setattr("tablecast.tables.near_first.MOST_FAR", 4)
    monkeypatch.setattr("tablecast.tables.view.FEW", 1)
    monkeypatch.setattr("tablecast.tables.intake.MOST_LATE", 3)
    run_state_machine_as_test(Happenings, settings=settings(max_examples=120, stateful_step_count=30, deadline=None))
