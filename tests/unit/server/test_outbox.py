"""V4: bounded, and never a queue of frames."""

import asyncio

from tablecast.server.outbox import Outbox


def test_answers_go_first_and_a_frame_is_cut_only_when_taken() -> None:
    cuts: list[int] = []

    def cut(sub: int) -> list[bytes]:
        cuts.append(sub)
        return [b"opened", b"frame %d" % sub] if sub == 2 else [b"frame %d" % sub]

    outbox = Outbox(cut)
    for _ in range(3):
        outbox.mark(1)
        outbox.mark(2)
    outbox.put(b"pong")
    assert cuts == []
    assert [outbox.take() for _ in range(4)] == [[b"pong"], [b"frame 1"], [b"opened", b"frame 2"], []]


def test_a_mark_that_gives_nothing_is_skipped_and_a_forgotten_one_is_not_cut() -> None:
    outbox = Outbox(lambda sub: [b"x"] if sub == 3 else [])
    for sub in (1, 2, 3):
        outbox.mark(sub)
    outbox.forget(2)
    assert outbox.take() == [b"x"]
    assert outbox.take() == []


def test_a_full_outbox_holds_back_the_reading() -> None:
    async def scenario() -> None:
        outbox = Outbox(lambda sub: [], capacity=2)
        outbox.put(b"a")
        await asyncio.wait_for(outbox.room(), 1)
        outbox.put(b"b")
        waiting = asyncio.ensure_future(outbox.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert outbox.take() == [b"a", b"b"]
        await asyncio.wait_for(waiting, 1)

    asyncio.run(scenario())


def test_wait_returns_when_there_is_something() -> None:
    async def scenario() -> None:
        outbox = Outbox(lambda sub: [b"x"])
        waiting = asyncio.ensure_future(outbox.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.mark(1)
        await asyncio.wait_for(waiting, 1)

    asyncio.run(scenario())


def test_how_long_a_viewer_has_not_taken_anything() -> None:
    outbox = Outbox(lambda sub: [])
    assert outbox.stalled_for() == 0
    outbox.sending()
    assert outbox.stalled_for() >= 0
    outbox.sent()
    assert outbox.stalled_for() == 0
