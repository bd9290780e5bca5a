import asyncio
import time

import pytest

from tablecast.errors import NotReady, ViewerError, ViewFailed
from tablecast.server.builder import BUILD_ROWS, Builder
from tablecast.server.hub import Hub
from tablecast.server.ticker import Ticker
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable
from tablecast.tables.near_first import MARGIN
from tablecast.tables.view import ShapedView, ViewSpec
from tablecast.tables.window import Window

from .talking import COLUMNS, TalkTo, generation_of, put, table_of


def test_many_touches_are_one_act_and_acts_keep_their_distance() -> None:
    async def scenario() -> None:
        acts: list[float] = []
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def act() -> None:
            acts.append(loop.time())
            done.set()

        ticker = Ticker(act, quiet=0.02)
        # The ticker counts from just before an act, and the machine may rest between the two; this moment is before both.
        begun = loop.time()
        for _ in range(5):
            ticker.touch()
        await asyncio.wait_for(done.wait(), 1)
        assert len(acts) == 1
        done.clear()
        ticker.touch()
        ticker.touch()
        await asyncio.wait_for(done.wait(), 1)
        assert len(acts) == 2
        assert acts[1] - begun >= 0.019

    asyncio.run(scenario())


def test_the_tick_widens_with_what_it_sets_off_and_narrows_again() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        acts: list[float] = []
        ticker = Ticker(lambda: acts.append(loop.time()), quiet=0.002)

        async def tick(cost: float) -> float:
            """One act that sets something off; the interval after it."""
            before = len(acts)
            ticker.touch()
            while len(acts) == before:
                await asyncio.sleep(0)
            ticker.charge(cost)
            ticker.touch()
            return ticker.interval

        begun = loop.time()
        assert await asyncio.wait_for(tick(0.02), 1) >= 0.04
        intervals = [await asyncio.wait_for(tick(0.0), 1) for _ in range(3)]
        assert acts[1] - begun >= 0.039
        assert intervals == sorted(intervals, reverse=True)
        assert intervals[-1] < 0.9 * intervals[0]

    asyncio.run(scenario())


def test_what_a_tick_and_what_it_set_off_took_is_told() -> None:
    async def scenario() -> None:
        acts, took = list[int](), list[float]()
        ticker = Ticker(lambda: acts.append(1), quiet=0.001, took=took.append)
        for number in (1, 2):
            ticker.touch()
            while len(acts) < number:
                await asyncio.sleep(0)
            ticker.charge(0.5)
        assert len(took) == 1
        assert 0.5 < took[0] < 0.6

    asyncio.run(asyncio.wait_for(scenario(), 5))


def test_many_wanted_views_take_one_slice_a_turn() -> None:
    hub = Hub()
    hub.flip(generation_of(1, BUILD_ROWS * 4))

    async def scenario() -> None:
        views, visit = hub.current().find("users"), Visit()
        viewports = [views.open(ViewSpec(search=f"row {n}"), Window(0, 5), visit) for n in range(5)]
        building = asyncio.gather(*(hub.built(viewport) for viewport in viewports))
        turns = 0
        while not building.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 5 * 4, "each turn of the loop takes in at most one slice of one view"
        assert all(viewport.ready for viewport in viewports)

    asyncio.run(scenario())


def test_building_leaves_most_of_the_time_to_those_who_keep_the_server_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two slices it pauses for three times as long as one took, unless ticks come as often as in quiet times."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("tablecast.server.builder.asyncio.sleep", noted)

    async def slices(behind: float) -> list[float]:
        ticker = Ticker(lambda: None)
        ticker.interval += behind
        viewport = generation_of(1, BUILD_ROWS * 8).find("users").open(ViewSpec(search="row"), Window(0, 5), Visit())
        taken: list[float] = []
        build = viewport.source.build

        def timed(limit: int) -> bool:
            began = time.perf_counter()
            done = build(limit)
            taken.append(time.perf_counter() - began)
            return done

        viewport.source.build = timed  # type: ignore[method-assign]
        await Builder(ticker, lambda viewport, error: ViewFailed(viewport.table.name)).want(viewport)
        return taken

    busy = asyncio.run(slices(behind=60.0))
    assert len(busy) >= 8
    assert all(pause >= 3 * taken for pause, taken in zip(pauses, busy, strict=False))
    pauses.clear()
    asyncio.run(slices(behind=0.0))
    assert set(pauses) == {0.0}


class Visit:
    """Waits for a view, as an HTTP request does."""

    def touched(self) -> None:
        pass

    def broken(self, error: ViewerError) -> None:
        pass


def test_a_flip_ends_the_building_of_the_generation_before_and_the_builder_goes_on() -> None:
    hub, old = Hub(), generation_of(1, BUILD_ROWS * 20)
    hub.flip(old)

    async def scenario() -> None:
        spec, visit = ViewSpec(search="row"), Visit()
        before = old.find("users").open(spec, Window(0, 5), visit)
        waiting = asyncio.ensure_future(hub.built(before))
        await asyncio.sleep(0)
        hub.flip(generation_of(2, BUILD_ROWS * 3))
        old.dismantle()
        await asyncio.wait_for(waiting, 5)
        assert not before.ready
        before.release(visit)
        after = hub.current().find("users").open(spec, Window(0, 5), visit)
        await asyncio.wait_for(hub.built(after), 5)
        assert (after.ready, after.source.total) == (True, BUILD_ROWS * 3)

    asyncio.run(scenario())


def test_a_view_that_cannot_be_built_takes_no_other_with_it(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    hub.flip(generation_of(2, BUILD_ROWS * 3))

    async def scenario() -> None:
        views, visit = hub.current().find("users"), Visit()
        bad, good = (views.open(ViewSpec(search=text), Window(0, 5), visit) for text in ("1", "row"))
        bad.source.build = lambda limit: 1 // 0  # type: ignore[method-assign, assignment, return-value]
        results = await asyncio.wait_for(asyncio.gather(hub.built(bad), hub.built(good), return_exceptions=True), 5)
        assert [type(result) for result in results] == [ViewFailed, type(None)]
        assert good.ready

    asyncio.run(scenario())
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("rows", [10, BUILD_ROWS * 3])
def test_viewers_of_a_view_that_cannot_be_built_are_told(talk_to: TalkTo, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Small tables are built at once, others by and by."""
    hub = Hub()
    hub.flip(generation_of(1, rows))

    async def scenario() -> None:
        talk = talk_to(hub)
        monkeypatch.setattr("tablecast.tables.view.ShapedView.build", lambda self, limit: 1 // 0)
        heard = talk.say("open", sub=1, request=1, table="users", offset=0, size=3, search="row")
        while not any(message["type"] == "error" for message in heard):
            await asyncio.sleep(0)
            heard += talk.hear()
        [error] = [message for message in heard if message["type"] == "error"]
        assert (error["code"], error["sub"]) == ("view_failed", 1)
        monkeypatch.undo()
        talk.say("close", sub=1)
        assert talk.say("open", sub=2, request=1, table="users", offset=0, size=3)[-1]["total"] == rows

    asyncio.run(asyncio.wait_for(scenario(), 10))


def test_a_view_that_fails_while_it_is_shown_takes_nothing_else_with_it(talk_to: TalkTo, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = Hub()
    hub.flip(generation_of(1, 10))

    async def scenario() -> None:
        bad, good = talk_to(hub), talk_to(hub)
        bad.say("open", sub=1, request=1, table="users", offset=0, size=3, sort=[{"column": "n"}])
        good.say("open", sub=1, request=1, table="users", offset=0, size=20, search="row")
        [view] = [view for spec, view in hub.current().find("users")._views.items() if spec.sort]
        view._place = lambda data, position: 1 // 0  # type: ignore[attr-defined]
        for index in range(600):
            put(table_of(hub), index, 5, 1)
        hub.touch()
        while not (heard := good.hear()):
            await asyncio.sleep(0)
        assert heard[-1]["total"] == 600
        assert [(message["type"], message.get("code")) for message in bad.hear()] == [("error", "view_failed")]
        bad.say("shape", sub=1, request=2, offset=0, size=3, sort=[{"column": "n"}])
        assert len(hub.current().find("users").specs()) == 2

    asyncio.run(asyncio.wait_for(scenario(), 10))


def of_few_groups(rows: int, most: int = 5) -> Hub:
    """A hub whose views have at most so many groups, with as many rows as there are names."""
    hub, table = Hub(), LiveTable("users", COLUMNS)
    for index in range(rows):
        put(table, index, 1)
    hub.flip(Generation(1, [table], {}, most))
    return hub


BY_NAME = {"by": ["name"], "aggregates": [{"op": "max", "column": "n"}]}


@pytest.mark.parametrize("rows", [6, BUILD_ROWS * 3])
def test_viewers_of_a_view_of_too_many_groups_are_told(talk_to: TalkTo, caplog: pytest.LogCaptureFixture, rows: int) -> None:
    hub = of_few_groups(rows)

    async def scenario() -> None:
        talk = talk_to(hub)
        heard = talk.say("open", sub=1, request=1, table="users", offset=0, size=3, group=BY_NAME)
        while not any(message["type"] == "error" for message in heard):
            await asyncio.sleep(0)
            heard += talk.hear()
        [error] = [message for message in heard if message["type"] == "error"]
        assert (error["code"], error["sub"]) == ("too_many_groups", 1)
        assert "server.view_groups" in error["hint"]
        assert hub.wanted() == {"users": frozenset()}

    asyncio.run(asyncio.wait_for(scenario(), 10))
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("ticks", [False, True])
def test_viewers_are_told_of_too_many_groups_that_come_later(talk_to: TalkTo, ticks: bool) -> None:
    """By the tick, or by what they ask for before it."""
    hub = of_few_groups(5)

    async def scenario() -> None:
        talk, other = talk_to(hub), talk_to(hub)
        assert talk.say("open", sub=1, request=1, table="users", offset=0, size=3, group=BY_NAME)[-1]["total"] == 5
        other.say("open", sub=1, request=1, table="users", offset=0, size=3)
        put(table_of(hub), 9, 1)
        hub.touch()
        heard = [] if ticks else talk.say("move", sub=1, request=2, offset=1, size=3)
        while not heard:
            await talk.news()
            heard = talk.hear()
        assert [(message["type"], message.get("code")) for message in heard] == [("error", "too_many_groups")]
        while not (news := other.hear()):
            await other.news()
        assert news[-1]["total"] == 6
        table_of(hub).delete(b"0-9", None)
        shown = talk.say("shape", sub=1, request=3, offset=0, size=3, group=BY_NAME)
        assert [message["total"] for message in shown if message["type"] == "frame"] == [5]

    asyncio.run(asyncio.wait_for(scenario(), 10))


def test_what_a_view_puts_off_is_done_after_the_tick(talk_to: TalkTo) -> None:
    hub = Hub()
    hub.flip(generation_of(1, 4 * MARGIN))

    async def scenario() -> None:
        talk = talk_to(hub)
        talk.say("open", sub=1, request=1, table="users", offset=0, size=3, sort=[{"column": "name", "descending": True}])
        while not (shown := hub.current().find("users").shown()):
            await asyncio.sleep(0)
        [(_, view)] = shown
        while not view.build(BUILD_ROWS):
            pass
        talk.hear()
        table_of(hub).delete(b"0-0", None)
        table_of(hub).delete(b"0-1", None)
        hub.touch()
        while not (heard := talk.hear()):
            await asyncio.sleep(0)
        assert heard[-1]["total"] == view.total == 4 * MARGIN - 2
        assert isinstance(view, ShapedView)
        assert len(view._order) == view.total + 2, "nobody looks at the last ones"
        while len(view._order) != view.total:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(scenario(), 10))


def test_only_so_many_different_views_are_kept(talk_to: TalkTo) -> None:
    hub = Hub(most_views=2)
    hub.flip(generation_of(1, 10))
    talk, other = talk_to(hub), talk_to(hub)
    open_ = {"request": 1, "table": "users", "offset": 0, "size": 3}
    for sub, search in ((1, "1"), (2, "2")):
        assert talk.say("open", sub=sub, search=search, **open_)[0]["type"] == "opened"
    [error] = talk.say("open", sub=3, search="3", **open_)
    assert (error["code"], error["sub"]) == ("too_many_views", 3)
    error, frame = talk.say("shape", sub=2, request=2, offset=0, size=3, search="3")
    assert (error["code"], frame["request"], frame["total"]) == ("too_many_views", 2, 1)
    assert other.say("open", sub=1, search="1", **open_)[0]["type"] == "opened", "a view that somebody has costs nothing more"
    assert other.say("open", sub=2, **open_)[0]["type"] == "opened", "neither does the table itself"
    assert [message["code"] for message in other.say("open", sub=3, **{**open_, "table": "nope"}, search="x")] == ["unknown_table"]
    talk.say("close", sub=2)
    assert other.say("open", sub=3, search="3", **open_)[0]["type"] == "opened"


def test_who_moves_does_not_make_others_look_for_what_is_new(hub: Hub, talk_to: TalkTo) -> None:
    still, restless = talk_to(hub), talk_to(hub)
    for talk in (still, restless):
        talk.say("open", sub=1, request=1, table="users", offset=0, size=3, sort=[{"column": "n"}])

    def tell() -> None:
        for viewport in hub.current().find("users").viewports():
            viewport.tell()

    tell()
    assert still.hear() == []
    restless.say("move", sub=1, request=2, offset=2, size=3)
    tell()
    assert not still.session.outbox.waits


def test_viewers_of_a_changed_table_are_marked(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", sub=1, request=1, table="users", offset=0, size=3)

    async def scenario() -> None:
        put(table_of(hub), 1, 7, version=1)
        hub.touch()
        await talk.news()

    asyncio.run(scenario())
    [frame] = talk.hear()
    assert list(frame["rows"]) == ["0-1"]


def test_a_big_view_is_built_in_turns_and_then_shown(talk_to: TalkTo) -> None:
    hub = Hub()
    hub.flip(generation_of(1, BUILD_ROWS * 3))
    talk = talk_to(hub)

    async def scenario() -> None:
        heard = talk.say("open", sub=1, request=1, table="users", offset=0, size=1, sort=[{"column": "name", "descending": True}])
        assert [message["type"] for message in heard] == ["opened"]
        await talk.news()
        [frame] = talk.hear()
        assert frame["rows"] == {"0-999": {"name": "row 999", "n": "1"}}

    asyncio.run(scenario())


def test_before_the_first_generation_nothing_is_current() -> None:
    hub = Hub()
    hub.say("filling", "Generation 3 is being read.")
    with pytest.raises(NotReady, match=r"Generation 3 is being read\."):
        hub.current()


def test_the_views_that_are_open_are_known(hub: Hub, talk_to: TalkTo) -> None:
    talk_to(hub).say("open", sub=1, request=1, table="user", offset=0, size=3, search="row")
    [spec] = hub.wanted()["users"]
    assert spec.search == "row"
    assert Hub().wanted() == {}
