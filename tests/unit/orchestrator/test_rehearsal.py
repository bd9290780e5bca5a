"""A dry run is answered without a build, supersedes nobody, and leaves no message without a verdict."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.configuration import load
from tablecast.orchestrator import rehearsal
from tablecast.orchestrator.agenda import Agenda, Asked
from tablecast.orchestrator.control import Request
from tablecast.orchestrator.rehearsal import Outcome, Rehearsal
from tablecast.orchestrator.verdicts import Answer, Letter


def asked(offset: int, topic: str, ignored: tuple[str, ...] = ()) -> Asked:
    request = Request({"users": topic, "accounts": "a"}, "left", ignored, dry_run=True)
    return Asked(Letter((0, offset), f"m{offset}", 1000 + offset, b"{}"), request, topic)


def generation(number: int, fingerprint: str) -> SimpleNamespace:
    return SimpleNamespace(blueprint=SimpleNamespace(number=number, fingerprint=fingerprint), lost=False)


@dataclass
class ClerkOfTest:
    dry_runs: list[Asked]
    agenda: Agenda = field(default_factory=Agenda)
    told: dict[str, tuple[str, str | None, int | None]] = field(default_factory=dict)

    def answer(self, answers: list[Answer]) -> None:
        for answer in answers:
            assert answer.letter.id not in self.told
            self.told[answer.letter.id] = (answer.verdict, answer.reason, answer.generation)


def rehearsed(clerk: ClerkOfTest, build: object | None = None) -> Rehearsal:
    board = SimpleNamespace(next_number=lambda: 5)
    stage = SimpleNamespace(clerk=clerk, live=generation(4, "live"), build=build, board=board)
    return Rehearsal(cast("Any", stage), load(None, {}), cast("Any", None), cast("Any", None))


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome | Exception]:
    """Topic to what an examination finds."""
    found: dict[str, Outcome | Exception] = {}

    def rehearse(given: SimpleNamespace, beside: list[object]) -> Outcome:
        outcome = found[given.blueprint.catalog.sources["users"].topic]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(rehearsal, "rehearse", rehearse)
    monkeypatch.setattr(rehearsal, "Generation", lambda blueprint, *_: SimpleNamespace(blueprint=blueprint))
    return found


def settle(given: Rehearsal, clerk: ClerkOfTest) -> None:
    while clerk.dry_runs:
        given.step()
        if given._examination is not None:
            given._examination[1].join()


def test_what_is_live_already_changes_nothing() -> None:
    clerk = ClerkOfTest([asked(0, "live", ("comment",))])
    rehearsed(clerk).step()
    assert clerk.told == {"m0": ("no_change", "generation 4 shows this already, unknown fields ignored: comment", 4)}
    assert clerk.dry_runs == []


def test_what_is_being_built_would_be_applied() -> None:
    clerk = ClerkOfTest([asked(0, "built")])
    rehearsed(clerk, SimpleNamespace(given_up=None, generation=generation(5, "built"))).step()
    assert clerk.told == {"m0": ("would_apply", "generation 5, which is being built, will show this", 5)}


def test_each_is_examined_once_and_every_one_is_answered(outcomes: dict[str, Outcome | Exception]) -> None:
    outcomes |= {"good": Outcome("would_apply", "fine"), "bad": Outcome("rejected", "no such topic"), "worse": OSError("broken pipe")}
    clerk = ClerkOfTest([asked(number, topic) for number, topic in enumerate(["good", "bad", "good", "live", "worse"])])
    settle(rehearsed(clerk), clerk)
    assert clerk.told == {
        "m0": ("would_apply", "fine", None),
        "m1": ("rejected", "no such topic", None),
        "m2": ("would_apply", "fine", None),
        "m3": ("no_change", "generation 4 shows this already", 4),
        "m4": ("rejected", "its topics could not be looked at: broken pipe", None),
    }
    assert clerk.agenda.waiting == []


def test_the_newest_is_looked_at_first(outcomes: dict[str, Outcome | Exception]) -> None:
    outcomes |= {"old": Outcome("would_apply", "old"), "new": Outcome("would_apply", "new")}
    clerk = ClerkOfTest([asked(0, "old"), asked(1, "new")])
    settle(rehearsed(clerk), clerk)
    assert list(clerk.told) == ["m1", "m0"]
