"""H2, H3, H5: one build at a time, promoted whole or without a trace, whatever comes in between."""

import functools
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.catalog import Catalog
from tablecast.errors import GenerationFailed, LeadLost, SparkUnusable
from tablecast.orchestrator import build as build_module
from tablecast.orchestrator import swap as module
from tablecast.orchestrator.lingering import Lingering
from tablecast.orchestrator.stage import Wanted
from tablecast.orchestrator.swap import MOST_FILL_PAUSE_SECONDS
from tests.unit.orchestrator.scripted import ENDS, PATIENCE, Play


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    return Play(monkeypatch)


def test_a_message_is_built_and_promoted_and_the_old_one_lingers(play: Play) -> None:
    play.go_live("a")
    play.ask("b")
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "applied"}
    assert play.board.said == [(1, "live"), (2, "building"), (2, "hydrating"), (2, "ready"), (2, "live"), (1, "lingering")]
    assert play.made[0].taken == ["prepare", "fill", "start", "await_marks", "end_offsets"]
    assert play.board.generations[2].ends == ENDS
    assert [(lingering.number, lingering.runs) for lingering in play.stage.lingering] == [(1, True)]


def test_nothing_is_created_before_the_number_is_announced(play: Play) -> None:
    """A leader that was paused would else take the number, topics and checkpoints of the one that leads now."""
    play.go_live("a")
    play.board.refusal = LeadLost("p.status", "fenced")
    play.ask("b")
    with pytest.raises(LeadLost):
        play.step_until(lambda: False)
    play.swap.close()
    assert play.made[0].taken == []


def test_one_that_was_announced_is_removed_when_the_lead_is_lost(play: Play) -> None:
    """Its number is nobody else's: who leads now has called it retired, and takes the next one."""
    play.go_live("a")
    filling = play.hold("fill")
    play.ask("b")
    play.step_until(filling.is_set)
    play.board.refusal = LeadLost("p.status", "fenced")
    with pytest.raises(LeadLost):
        play.step_until(lambda: False)
    play.swap.close()
    assert play.made[0].taken[-1] == "remove"


def test_one_that_is_ready_when_the_lead_is_lost_is_stopped_and_left_as_it_is(play: Play) -> None:
    """Its promotion may have arrived: then it is what the next leader goes on with."""
    play.go_live("a")
    play.ask("b")
    play.step_until(lambda: play.stage.build is not None and play.stage.build.ready)
    play.board.refusal = LeadLost("p.status", "fenced")
    with pytest.raises(LeadLost):
        play.step_until(lambda: False)
    play.swap.close()
    assert play.made[0].taken[-1] == "stop"


def test_a_build_that_is_ready_when_a_message_asks_for_what_is_live_is_promoted_before_it(play: Play) -> None:
    play.go_live("a")
    play.ask("b")
    play.step_until(lambda: play.stage.build is not None and play.stage.build.ready)
    play.ask("a")
    play.swap._consider()
    play.step_until(lambda: len(play.clerk.verdicts) == 2)
    assert play.clerk.verdicts == {"m0": "applied", "m1": "applied"}
    assert play.live() == 3
    assert play.clerk.agenda.waiting == []


def test_a_build_that_is_not_ready_when_a_message_asks_for_what_is_live_is_given_up(play: Play) -> None:
    play.go_live("a")
    filling = play.hold("fill")
    play.ask("b")
    play.step_until(filling.is_set)
    play.ask("a")
    play.step_until(lambda: play.board.generations[2].state == "retired")
    assert play.clerk.verdicts == {"m0": "superseded", "m1": "no_change"}
    assert play.live() == 1
    assert play.made[0].taken[-1] == "remove"
    assert play.stage.build is None


def test_one_that_is_given_up_at_its_last_step_is_not_promoted_without_its_ends(play: Play) -> None:
    """Whoever waits for a broker that is away stops waiting when it is abandoned: with nothing in its hands."""
    play.go_live("a")
    play.scripts["end_offsets"] = lambda: play.stage.build is not None and play.stage.build.give_up("a newer one came", superseded=True)
    play.ask("b")
    play.step_until(lambda: play.board.generations.get(2) is not None and play.board.generations[2].state == "retired")
    assert play.made[0].taken[-1] == "remove"


def test_one_that_was_accepted_is_not_built_while_a_newer_one_is_looked_at(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = {"b": threading.Event(), "c": threading.Event()}
    monkeypatch.setattr(module, "examine", lambda catalog, _: looked_at[catalog.sources["users"].topic].wait(PATIENCE) and None)
    play.go_live("a")
    play.ask("b")
    play.swap.step()
    play.ask("c")
    looked_at["b"].set()
    play.step_until(lambda: play.swap._accepted is not None and play.swap._examination is not None)
    play.swap.step()
    assert play.stage.build is None
    looked_at["c"].set()
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "superseded", "m1": "applied"}
    assert len(play.made) == 1


def test_a_build_that_the_newest_message_wants_again_is_not_given_up_for_one_before_it(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody went to b, to c and back to b while c was still looked at: b is half built, and wanted."""
    looked_at, seen = threading.Event(), threading.Event()

    def examine(catalog: Catalog, _: object) -> None:
        if catalog.sources["users"].topic == "c":
            looked_at.wait(PATIENCE)
            seen.set()

    monkeypatch.setattr(module, "examine", examine)
    play.go_live("a")
    filling, go_on = threading.Event(), threading.Event()

    def fill() -> None:
        filling.set()
        go_on.wait(PATIENCE)

    play.scripts["fill"] = fill
    play.ask("b")
    play.step_until(filling.is_set)
    play.ask("c")
    play.step_until(lambda: play.swap._examination is not None)
    play.ask("b")
    play.swap.step()
    looked_at.set()
    play.step_until(lambda: seen.is_set() and play.swap._examination is None)
    go_on.set()
    play.step_until(lambda: len(play.clerk.verdicts) == 3)
    assert play.clerk.verdicts == {"m0": "applied", "m1": "superseded", "m2": "applied"}
    assert len(play.made) == 1


def test_one_that_fails_is_tried_once_more_and_then_refused(play: Play) -> None:
    def fail() -> None:
        raise GenerationFailed(2, "a broker restarted")

    play.go_live("a")
    play.scripts["fill"] = fail
    play.ask("b")
    play.step_until(lambda: play.made)
    play.scripts["fill"] = fail
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "rejected"}
    assert [play.board.generations[number].state for number in (1, 2, 3)] == ["live", "failed", "failed"]


def test_a_fill_that_nobody_asked_for_and_that_fails_for_ever_is_tried_ever_more_seldom(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise GenerationFailed(1, "it cannot be read")

    def has_failed(number: int) -> bool:
        return len(play.made) == number and play.stage.build is None

    clock, an_hour = SimpleNamespace(now=1000.0), 3600.0
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(module, "time", clock)
    play.stage.wanted = Wanted(play.configuration.catalog, None)
    pauses = []
    for number in range(1, 26):
        play.scripts["fill"] = fail
        play.step_until(functools.partial(has_failed, number))
        pauses.append(play.swap._due - clock.now)
        clock.now = play.swap._due + an_hour
    assert pauses[:3] == [0.5, 0.75, 1.125]
    assert pauses[-1] == MOST_FILL_PAUSE_SECONDS
    assert play.board.generations[25].error is not None


def test_a_message_that_wants_what_is_being_built_anyway_does_not_set_it_a_limit(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long fill that the configuration asked for would else fail at once, and begin again."""
    monkeypatch.setattr(build_module.Build, "age", 1e9)
    filling = play.hold("fill")
    play.stage.wanted = Wanted(play.configuration.catalog, None)
    play.step_until(filling.is_set)
    play.ask("users")
    play.step_until(lambda: play.clerk.agenda.chosen is not None)
    play.swap.step()
    assert play.stage.build is not None
    assert play.stage.build.given_up is None
    play.made[0].abandoned.set()
    play.step_until(lambda: play.stage.build is None)


def test_what_was_begun_anyway_while_a_message_for_it_is_looked_at_is_built_once(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = threading.Event()
    monkeypatch.setattr(module, "examine", lambda *_: looked_at.wait(PATIENCE) and None)
    play.ask("users")
    play.swap.step()
    filled = threading.Event()
    play.scripts["fill"] = lambda: filled.wait(PATIENCE)
    play.stage.wanted = Wanted(play.configuration.catalog, None)
    play.step_until(lambda: play.made and "fill" in play.made[0].taken)
    looked_at.set()
    play.step_until(lambda: play.clerk.agenda.chosen is not None)
    filled.set()
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "applied"}
    assert len(play.made) == 1


def test_the_slots_of_one_that_is_leaving_are_waited_for(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A swap right after another one is not refused because the first of the three has not stopped yet."""

    def reserve(_: object, needed: int, held: int, what: str) -> None:
        if held > 1:
            raise SparkUnusable(f"{what} needs {needed} task slots", "Use fewer.")

    monkeypatch.setattr(build_module, "reserve", reserve)
    first, second = play.go_live("a"), play.go_live("b")
    play.stage.lingering.append(Lingering(1, cast("Any", first), 2))
    play.ask("c")
    play.step_until(lambda: play.made and play.stage.build is not None and play.stage.build.state == "building")
    for _ in range(20):
        play.swap.step()
    assert (play.clerk.verdicts, play.made[0].taken) == ({}, [])
    first.crew.stop()
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "applied"}
    assert second.crew.held() == [0]


def test_one_that_finds_no_slots_beside_what_stays_is_refused(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def reserve(*_: object) -> None:
        raise SparkUnusable("there are too few", "Use fewer.")

    monkeypatch.setattr(build_module, "reserve", reserve)
    play.go_live("a")
    play.ask("b")
    play.step_until(lambda: play.clerk.verdicts)
    assert play.clerk.verdicts == {"m0": "rejected"}
