"""H7: the command line asks only for a change, and keeps apart from whoever asked before."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tablecast.errors import NotReady
from tablecast.kafka import asking as module
from tablecast.kafka.asking import APART_SECONDS, Asking
from tablecast.kafka.status import GenerationStatus, State
from tablecast.settings import Settings

TOPICS = {"users": "u", "accounts": "a"}


def status(generation: int, state: State) -> GenerationStatus:
    return GenerationStatus(generation, state, TOPICS, {}, {}, "f", "2026-01-01T00:00:00Z", join={"final_ui": "left"})


class World:
    """What stands on the topics, what was sent, and how long somebody slept before."""

    def __init__(self) -> None:
        self.statuses = {1: status(1, "live")}
        self.received: list[datetime] = []
        self.verdicts: list[str] = []
        """Of one message, one after another: a compacted topic may hold earlier words too."""
        self.sent: list[dict[str, Any]] = []
        self.slept = 0.0

    def ask(self, topics: dict[str, str], join: str | None = None, dry_run: bool = False) -> str | None:
        return Asking(Settings().kafka, "p").ask(topics, join, dry_run)

    def send(self, _: object, __: str, text: bytes) -> str:
        self.sent.append(json.loads(text))
        return f"m{len(self.sent)}"

    def rows(self, *_: object) -> list[object]:
        rows = [(f"m{number}", {"received": moment.isoformat()}) for number, moment in enumerate(self.received)]
        rows += [("asked", {"received": "2026-01-01T00:00:00Z", "verdict": verdict}) for verdict in self.verdicts]
        return [SimpleNamespace(key=lambda key=key: key.encode(), value=lambda row=row: json.dumps(row).encode()) for key, row in rows]

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(module, "standing_statuses", lambda *_: made.statuses)
    monkeypatch.setattr(module, "standing", made.rows)
    monkeypatch.setattr(module, "send_control", made.send)
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=made.sleep))
    return made


def test_what_is_not_given_stays_as_it_is(world: World) -> None:
    assert world.ask({"users": "u2"}) == "m1"
    assert world.sent == [{"usersTopic": "u2", "accountsTopic": "a", "joinType": "left"}]


def test_what_changes_nothing_is_not_sent(world: World) -> None:
    assert world.ask({"users": "u"}, "left") is None
    assert world.ask({}) is None
    assert world.sent == []


def test_it_is_sent_when_another_generation_is_on_its_way_or_the_live_one_cannot_go_on(world: World) -> None:
    world.statuses[2] = status(2, "hydrating")
    assert world.ask({"users": "u"}) == "m1"
    world.statuses = {1: msgspec.structs.replace(status(1, "live"), error="it cannot go on")}
    assert world.ask({"users": "u"}) == "m2"


def test_it_is_sent_while_an_earlier_message_has_no_verdict(world: World) -> None:
    """What is live does not say then what will be: the wish to stay would be lost."""
    world.verdicts = ["pending"]
    assert world.ask({"users": "u"}) == "m1"
    world.verdicts = ["pending", "rejected"]
    assert world.ask({"users": "u"}) is None


def test_nobody_knows_what_a_change_would_be_while_nothing_is_live(world: World) -> None:
    world.statuses = {1: status(1, "hydrating")}
    with pytest.raises(NotReady):
        world.ask({"users": "u2"})


@pytest.mark.parametrize(
    ("age", "least", "most"), [(0.0, 0.8, APART_SECONDS), (0.6, 0.2, 0.4), (5.0, 0.0, 0.0), (-3600.0, APART_SECONDS, APART_SECONDS)]
)
def test_two_messages_are_kept_apart_whoever_sent_the_first(world: World, age: float, least: float, most: float) -> None:
    """Also where the clock of that one is ahead: nobody waits for longer than the pause."""
    now = datetime.now(UTC)
    world.received = [now - timedelta(seconds=600), now - timedelta(seconds=age)]
    world.ask({"users": "u2"})
    assert least <= world.slept <= most
    assert len(world.sent) == 1


def test_the_first_message_does_not_wait(world: World) -> None:
    world.ask({"users": "u2"})
    assert world.slept == 0
