import asyncio

import pytest

from tablecast.errors import NotReady
from tablecast.server.hub import BUILD_ROWS, Hub
from tablecast.server.ticker import Ticker

from .talking import TalkTo, generation_of, put, table_of


def test_many_touches_are_one_act_and_acts_keep_their_distance() -> None:
    async def scenario() -> None:
        acts: list[float] = []
        done = asyncio.Event()
        loop = asyncio.get_running_loop()

        def act() -> None:
            acts.append(loop.time())
            done.set()

        ticker = Ticker(0.02, act)
        for _ in range(5):
            ticker.touch()
        await asyncio.wait_for(done.wait(), 1)
        assert len(acts) == 1
        done.clear()
        ticker.touch()
        ticker.touch()
        await asyncio.wait_for(done.wait(), 1)
        assert len(acts) == 2
        assert acts[1] - acts[0] >= 0.019

    asyncio.run(scenario())


def test_viewers_of_a_changed_table_are_marked(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", sub=1, request=1, table="users", offset=0, size=3)

    async def scenario() -> None:
        put(table_of(hub), 1, 7, version=1)
        hub.touch()
        await asyncio.wait_for(talk.session.outbox.wait(), 1)

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
        await asyncio.wait_for(talk.session.outbox.wait(), 5)
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
