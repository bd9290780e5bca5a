"""A poison input cannot make it loop for ever: after a few generations that could not go on there is no further one, and it is said."""

import threading
from typing import Any, cast

import pytest
from pyspark.errors import PySparkException

from tablecast.orchestrator import keeper as keeper_module
from tablecast.orchestrator.orchestrator import Orchestrator
from tablecast.orchestrator.rebuilds import MOST, WITHIN_SECONDS, Rebuilds
from tests.unit.orchestrator.scripted import PATIENCE, Play


class Clock:
    """Half a minute passes whenever somebody looks: nobody waits for a backoff."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        self.now += 30.0
        return self.now


class Loop:
    """The steps of the orchestrator's loop that build and tend."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.orchestrator = Orchestrator(play.configuration, cast("Any", None), cast("Any", None), play.stop)

    def run_until(self, condition: Any) -> None:
        pause = threading.Event()
        for _ in range(int(PATIENCE / 0.002)):
            if condition():
                return
            self.step()
            pause.wait(0.002)
        raise AssertionError(self.play.board.said)

    def step(self) -> None:
        self.orchestrator._tend_live(self.play.stage)
        self.play.swap.step()


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    monkeypatch.setattr(keeper_module, "time", Clock())
    return Play(monkeypatch)


def test_a_few_are_allowed_within_a_while_and_then_none() -> None:
    rebuilds = Rebuilds()
    assert [rebuilds.may_begin(10.0 * number) for number in range(MOST)] == [True] * MOST
    assert rebuilds.told("it broke") == "it broke"
    assert not rebuilds.may_begin(WITHIN_SECONDS - 1)
    assert not rebuilds.may_begin(10 * WITHIN_SECONDS), "what was given up stays so until somebody asks"
    assert "built anew 3 times within 30 minutes" in rebuilds.told("it broke")
    rebuilds.forget()
    assert rebuilds.may_begin(0.0)


def test_one_now_and_then_is_always_allowed() -> None:
    rebuilds = Rebuilds()
    assert all(rebuilds.may_begin(number * WITHIN_SECONDS / MOST) for number in range(20))


def test_queries_that_fail_again_and_again_are_built_anew_a_few_times_and_then_left(play: Play) -> None:
    play.refusal = PySparkException("it cannot be read")
    play.go_live("a")
    loop = Loop(play)
    loop.run_until(lambda: play.stage.rebuilds.spent)
    for _ in range(50):
        loop.step()
    assert len(play.made) == MOST
    assert play.live() == MOST + 1
    error = play.board.generations[MOST + 1].error
    assert error is not None
    assert error.startswith("it cannot be read (built anew 3 times within 30 minutes, and not again")
    assert play.stage.failing() == error, "the pulse says it, and servers call their rows stale"


def test_asking_for_it_once_more_builds_it_again(play: Play) -> None:
    play.refusal = PySparkException("it cannot be read")
    play.go_live("a")
    loop = Loop(play)
    loop.run_until(lambda: play.stage.rebuilds.spent)
    play.refusal = None
    play.ask("a")
    loop.run_until(lambda: play.clerk.verdicts)
    loop.step()
    assert play.clerk.verdicts == {"m0": "applied"}
    assert not play.stage.rebuilds.spent
    assert play.stage.failing() is None
    assert play.board.generations[MOST + 2].error is None
