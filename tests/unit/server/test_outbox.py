"""V4: bounded, and never a queue of frames."""

from collections.abc import Callable

from tablecast.server.counters import Counters
from tablecast.server.outbox import ANSWERS, Outbox

from .talking import Clock


def outbox_of(cut: Callable[[int], list[bytes]], capacity: int = ANSWERS) -> Outbox:
    return Outbox(lambda sub, waited: cut(sub), Counters(), capacity)


def test_answers_go_first_and_a_frame_is_cut_only_when_taken() -> None:
    cuts: list[int] = []

    def cut(sub: int) -> list[bytes]:
        cuts.append(sub)
        return [b"opened", b"frame %d" % sub] if sub == 2 else [b"frame %d" % sub]

    outbox = outbox_of(cut)
    for _ in range(3):
        outbox.mark(1)
        outbox.mark(2)
    outbox.put(b"pong")
    assert cuts == []
    assert [outbox.take() for _ in range(4)] == [[b"pong"], [b"frame 1"], [b"opened", b"frame 2"], []]


def test_a_mark_that_gives_nothing_is_skipped_and_a_forgotten_one_is_not_cut() -> None:
    outbox = outbox_of(lambda sub: [b"x"] if sub == 3 else [])
    for sub in (1, 2, 3):
        outbox.mark(sub)
    outbox.forget(2)
    assert outbox.take() == [b"x"]
    assert outbox.take() == []


def test_a_full_outbox_says_so_and_says_when_it_has_room() -> None:
    told: list[str] = []
    outbox = outbox_of(lambda sub: [], capacity=2)
    outbox.on_room = lambda: told.append("room")
    outbox.put(b"a")
    assert not outbox.full
    assert outbox.take() == [b"a"]
    outbox.put(b"b")
    outbox.put(b"c")
    assert outbox.full
    assert (outbox.take(), outbox.full, told) == ([b"b", b"c"], False, ["room"])


def test_news_are_told_for_an_answer_and_for_the_first_mark_of_a_subscription() -> None:
    told: list[str] = []
    outbox = outbox_of(lambda sub: [b"x"])
    outbox.news = lambda: told.append("news")
    outbox.mark(1)
    outbox.mark(1)
    assert told == ["news"]
    outbox.put(b"pong")
    outbox.mark(2)
    assert told == ["news"] * 3


def test_skipped_states_are_counted_and_the_newest_one_knows_how_long_it_waited(clock: Clock) -> None:
    counters, waits = Counters(), []

    def cut(sub: int, waited: float) -> list[bytes]:
        waits.append(waited)
        return [b"x"]

    outbox = Outbox(cut, counters, clock=clock)
    outbox.mark(1)
    clock.now += 2
    outbox.mark(1)
    clock.now += 1
    outbox.mark(1)
    assert outbox.take() == [b"x"]
    outbox.mark(1)
    outbox.take()
    assert (counters.skips, waits) == (2, [3.0, 0.0])


def test_what_is_held_waits_until_it_is_let_go_and_holds_up_nothing_else() -> None:
    told: list[str] = []
    outbox = outbox_of(lambda sub: [b"frame %d" % sub])
    outbox.hold(1)
    outbox.mark(1)
    assert not outbox.waits
    assert outbox.take() == []
    outbox.mark(2)
    assert outbox.take() == [b"frame 2"]
    outbox.news = lambda: told.append("news")
    outbox.let_go(1)
    assert (told, outbox.waits, outbox.take()) == (["news"], True, [b"frame 1"])
    outbox.let_go(1)
    assert told == ["news"]
