"""V4: what is in an outbox goes out when the line takes it, in its newest form, and who takes nothing is given up."""

import asyncio
from collections.abc import Callable

import pytest

from tablecast.server.counters import Counters
from tablecast.server.courier import Courier, Rounds
from tablecast.server.outbox import Outbox


class PaperLine:
    """Takes `room` messages."""

    on_writable: Callable[[], None]

    def __init__(self, room: int) -> None:
        self.room = room
        self.posted: list[bytes] = []

    @property
    def takes(self) -> bool:
        return len(self.posted) < self.room

    @property
    def unsent(self) -> int:
        return 100

    def post(self, message: bytes) -> None:
        self.posted.append(message)


class SlowLine(PaperLine):
    """Full, but takes bytes: what is left of them at each asking."""

    def __init__(self, readings: list[int]) -> None:
        super().__init__(room=0)
        self.readings = readings

    @property
    def unsent(self) -> int:
        return self.readings.pop(0)


class Purse:
    """Holds `left` seconds, and says `wait` when they are spent."""

    def __init__(self, left: float, wait: float = 0.0) -> None:
        self.left = left
        self._wait = wait

    def wait(self, now: float) -> float:
        return self._wait if self.left <= 0 else 0.0

    def spend(self, seconds: float, now: float) -> None:
        self.left -= seconds


PLENTY = Purse(float("inf"))


async def turn() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


def test_all_news_of_one_turn_are_carried_in_the_next() -> None:
    async def scenario() -> None:
        line, counters = PaperLine(100), Counters()
        outbox = Outbox(lambda sub, waited: [b"frame %d" % sub], counters)
        Courier(outbox, line, Rounds(lambda seconds: None), counters, 60, PLENTY)
        outbox.mark(1)
        outbox.mark(2)
        outbox.put(b"pong")
        assert line.posted == []
        await turn()
        assert line.posted == [b"pong", b"frame 1", b"frame 2"]
        assert (counters.messages, counters.bytes) == (3, 18)

    asyncio.run(scenario())


def test_who_has_much_to_get_does_not_hold_up_the_others() -> None:
    async def scenario() -> None:
        counters, rounds = Counters(), Rounds(lambda seconds: None)
        greedy, modest = PaperLine(100), PaperLine(100)
        order: list[str] = []
        for name, line, subs in (("greedy", greedy, 3), ("modest", modest, 1)):
            outbox = Outbox(lambda sub, waited, name=name: [order.append(name) or b"x"], counters)  # type: ignore[misc, func-returns-value]
            Courier(outbox, line, rounds, counters, 60, PLENTY)
            for sub in range(subs):
                outbox.mark(sub + 1)
        await turn()
        assert order == ["greedy", "modest", "greedy", "greedy"]

    asyncio.run(scenario())


def test_one_that_fails_takes_nobody_with_it(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        counters, rounds = Counters(), Rounds(lambda seconds: None)
        bad, good = PaperLine(9), PaperLine(9)
        couriers = []
        for line, size in ((bad, 0), (good, 1)):
            outbox = Outbox(lambda sub, waited, size=size: [b"%d" % (1 // size)], counters)  # type: ignore[misc]
            couriers.append(Courier(outbox, line, rounds, counters, 60, PLENTY))
            outbox.mark(1)
        await turn()
        assert (bad.posted, good.posted) == ([], [b"1"])
        assert [courier.done.done() for courier in couriers] == [True, False]

    asyncio.run(scenario())
    assert "ZeroDivisionError" in caplog.text


def test_a_line_that_is_full_gets_the_newest_state_when_it_has_room() -> None:
    async def scenario() -> None:
        line, counters, state = PaperLine(1), Counters(), [0]
        outbox = Outbox(lambda sub, waited: [b"state %d" % state[0]], counters)
        courier = Courier(outbox, line, Rounds(lambda seconds: None), counters, 60, PLENTY)
        for number in range(5):
            state[0] = number
            outbox.mark(1)
            await turn()
        assert line.posted == [b"state 0"]
        line.room = 9
        line.on_writable()
        await turn()
        assert line.posted == [b"state 0", b"state 4"]
        assert counters.skips == 3
        courier.leave()

    asyncio.run(scenario())


def test_the_end_comes_after_the_last_words() -> None:
    async def scenario() -> None:
        line, counters = PaperLine(1), Counters()
        outbox = Outbox(lambda sub, waited: [], counters)
        courier = Courier(outbox, line, Rounds(lambda seconds: None), counters, 60, PLENTY)
        outbox.put(b"last")
        outbox.put(b"words")
        courier.finish()
        await turn()
        assert (line.posted, courier.done.done()) == ([b"last", b"words"], False)
        line.room = 9
        line.on_writable()
        await turn()
        assert (courier.done.done(), courier.stalled) == (True, False)

    asyncio.run(scenario())


def test_who_takes_nothing_is_given_up_and_who_takes_something_in_time_is_not() -> None:
    async def scenario() -> None:
        counters = Counters()
        slow, dead = PaperLine(1), PaperLine(1)
        couriers = []
        for line in (slow, dead):
            outbox = Outbox(lambda sub, waited: [], counters)
            couriers.append(Courier(outbox, line, Rounds(lambda seconds: None), counters, 0.05, PLENTY))
            outbox.put(b"frame")
        await turn()
        slow.room = 9
        slow.on_writable()
        await asyncio.wait_for(couriers[1].done, 5)
        assert couriers[1].stalled
        assert not couriers[0].done.done()
        assert counters.stalled == 1

    asyncio.run(scenario())


def test_who_reads_slowly_is_not_given_up_until_it_stops() -> None:
    async def scenario() -> None:
        counters, line = Counters(), SlowLine([100, 80, 80, 50, 50, 50])
        outbox = Outbox(lambda sub, waited: [], counters)
        courier = Courier(outbox, line, Rounds(lambda seconds: None), counters, 0.001, PLENTY)
        outbox.put(b"frame")
        await asyncio.wait_for(courier.done, 5)
        assert (courier.stalled, line.readings) == (True, [])

    asyncio.run(scenario())


def test_who_has_taken_too_much_rests_and_then_gets_the_newest_state() -> None:
    async def scenario() -> None:
        line, counters, state = PaperLine(100), Counters(), [0]
        purse = Purse(1e-9, wait=0.05)
        outbox = Outbox(lambda sub, waited: [b"state %d" % state[0]], counters)
        courier = Courier(outbox, line, Rounds(lambda seconds: None), counters, 60, purse)
        for number in range(4):
            state[0] = number
            outbox.mark(1)
            await turn()
        assert line.posted == [b"state 0"]
        purse.left = 1.0
        while len(line.posted) < 2:
            await asyncio.sleep(0.001)
        assert line.posted == [b"state 0", b"state 3"]
        courier.leave()

    asyncio.run(asyncio.wait_for(scenario(), 5))


def test_one_that_rests_may_leave() -> None:
    async def scenario() -> None:
        line, counters = PaperLine(100), Counters()
        outbox = Outbox(lambda sub, waited: [b"x"], counters)
        courier = Courier(outbox, line, Rounds(lambda seconds: None), counters, 60, Purse(0, wait=0.001))
        outbox.mark(1)
        await turn()
        courier.leave()
        await asyncio.sleep(0.01)
        assert (line.posted, courier.done.done()) == ([], True)

    asyncio.run(scenario())
