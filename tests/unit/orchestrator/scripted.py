"""Generations, a status board and a clerk that do as a test says: no Spark, no Kafka."""

import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.configuration import load
from tablecast.errors import GenerationFailed
from tablecast.kafka.status import GenerationStatus, newest_live
from tablecast.orchestrator import build as build_module
from tablecast.orchestrator import swap as swap_module
from tablecast.orchestrator.agenda import Agenda, Asked
from tablecast.orchestrator.blueprint import Blueprint, draw, fingerprint
from tablecast.orchestrator.control import Rejection, Request, asked_for
from tablecast.orchestrator.crew import Crew
from tablecast.orchestrator.keeper import Keeper
from tablecast.orchestrator.ledger import Record
from tablecast.orchestrator.stage import Stage
from tablecast.orchestrator.swap import Swap
from tablecast.orchestrator.system_tables import VersionClock
from tablecast.orchestrator.verdicts import Answer, Letter
from tablecast.settings import Settings

PATIENCE = 10.0
ENDS = {"p.users_ui.g1": 7}


class ScriptedGeneration:
    """Its steps only note that they were taken. `scripts` has a step's name and what happens in it besides."""

    def __init__(self, blueprint: Blueprint, *_: object) -> None:
        self.blueprint = blueprint
        self.settings = Settings()
        self.session = None
        self.abandoned = threading.Event()
        self.topics = SimpleNamespace(end_offsets=self._end_offsets)
        self.taken: list[str] = []
        self.scripts: dict[str, Callable[[], object]] = {}
        self.crew = Crew()
        self.refusal: Exception | None = None
        """Why its query cannot be started."""
        self.out_of_history = 0

    @property
    def lost(self) -> bool:
        return self.crew.lost

    def slots(self) -> int:
        return 1

    def held_slots(self) -> int:
        return len(self.crew.held())

    def prepare(self) -> None:
        self._take("prepare")

    def fill(self, *_: object) -> None:
        self._take("fill")

    def start(self) -> None:
        self._take("start")
        self.crew.keepers.append(Keeper("q0", self._query))

    def await_marks(self) -> None:
        self._take("await_marks")

    def stop(self) -> None:
        self._take("stop")

    def remove(self) -> None:
        self._take("remove")

    def abandon(self) -> None:
        self.abandoned.set()

    def go_on(self) -> None:
        if self.abandoned.is_set():
            raise GenerationFailed(self.blueprint.number, "it was abandoned before it was ready")

    def _query(self) -> StreamingQuery:
        if self.refusal is not None:
            raise self.refusal
        return cast("StreamingQuery", SimpleNamespace(isActive=True, lastProgress=None, stop=lambda: None))

    def _end_offsets(self) -> dict[str, int]:
        self._take("end_offsets")
        return ENDS

    def _take(self, step: str) -> None:
        self.taken.append(step)
        self.scripts.get(step, lambda: None)()


class ScriptedBoard:
    """Keeps what was announced; `refusal` is raised instead, once it is set."""

    def __init__(self) -> None:
        self.generations: dict[int, GenerationStatus] = {}
        self.said: list[tuple[int, str]] = []
        self.refusal: Exception | None = None
        self.ledger = SimpleNamespace(lost=None)

    def live(self) -> GenerationStatus | None:
        return newest_live(self.generations.values())

    def next_number(self) -> int:
        return max(self.generations, default=0) + 1

    def announce(self, *statuses: GenerationStatus, beside: Sequence[Record] = ()) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.generations = self.generations | {status.generation: status for status in statuses}
        self.said += [(status.generation, status.state) for status in statuses]


class ScriptedClerk:
    """Notes the verdict of each message."""

    def __init__(self) -> None:
        self.agenda = Agenda()
        self.verdicts: dict[str, str] = {}

    def records(self, answers: Sequence[Answer]) -> list[Record]:
        self.answer(answers)
        return []

    def answer(self, answers: Sequence[Answer]) -> None:
        for answer in answers:
            assert answer.letter.id not in self.verdicts
            self.verdicts[answer.letter.id] = answer.verdict

    def reject(self, asked: Asked, reason: str) -> None:
        self.answer(self.agenda.rejected(asked, Rejection(reason)))


class Play:
    """A swap whose generations, topics and status topic are scripted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.configuration = load(None, {})
        self.board, self.clerk = ScriptedBoard(), ScriptedClerk()
        self.stage = Stage(cast("Any", self.board), cast("Any", self.clerk), VersionClock(), "p")
        self.stop = threading.Event()
        self.made: list[ScriptedGeneration] = []
        self.scripts: dict[str, Callable[[], object]] = {}
        """Those of the next generation that is made."""
        self.refusal: Exception | None = None
        """Why no query can be started any more."""
        undisturbed(monkeypatch)
        monkeypatch.setattr(swap_module, "Generation", self._make)
        monkeypatch.setattr(swap_module, "examine", lambda *_: None)
        self.swap = Swap(self.stage, self.configuration, cast("Any", None), cast("Any", None), self.stop)
        self._messages = 0

    def _make(self, blueprint: Blueprint, *_: object) -> ScriptedGeneration:
        generation = ScriptedGeneration(blueprint)
        generation.scripts, self.scripts = self.scripts, {}
        generation.refusal = self.refusal
        self.made.append(generation)
        return generation

    def hold(self, step: str) -> threading.Event:
        """The next generation stays in this step until it is abandoned; the event is set when it is there."""
        there = threading.Event()

        def stay() -> None:
            there.set()
            self.made[-1].abandoned.wait(PATIENCE)

        self.scripts[step] = stay
        return there

    def ask(self, users: str) -> Asked:
        """A message that asks for this topic of users."""
        request = Request({"users": users, "accounts": "accounts"}, "left")
        catalog = asked_for(self.configuration.catalog, request, self.configuration.settings.control.joins)
        letter = Letter((0, self._messages), f"m{self._messages}", 1000 + self._messages, b"{}")
        self._messages += 1
        asked = Asked(letter, request, fingerprint(catalog, self.configuration.settings))
        self.clerk.agenda.take(asked)
        return asked

    def go_live(self, users: str) -> ScriptedGeneration:
        """A generation that is live already, over this topic of users."""
        catalog = asked_for(self.configuration.catalog, Request({"users": users, "accounts": "accounts"}), self.configuration.settings.control.joins)
        blueprint = draw(self.board.next_number(), catalog, self.configuration.settings)
        generation = ScriptedGeneration(blueprint)
        generation.refusal = self.refusal
        generation.start()
        self.board.announce(blueprint.status("live"))
        self.stage.live = cast("Any", generation)
        return generation

    def live(self) -> int | None:
        return self.stage.live.blueprint.number if self.stage.live is not None else None

    def step_until(self, condition: Callable[[], object]) -> None:
        """Steps as the orchestrator's loop does."""
        pause = threading.Event()
        for _ in range(int(PATIENCE / 0.005)):
            if condition():
                return
            self.swap.step()
            pause.wait(0.005)
        raise AssertionError(self.board.said)


def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds find their sources and slots without looking."""
    monkeypatch.setattr(build_module, "wait_until_up", lambda *_: "cluster")
    monkeypatch.setattr(build_module, "Topics", lambda *_: SimpleNamespace(check_readable=lambda _: None))
    monkeypatch.setattr(build_module, "reserve", lambda *_: None)
