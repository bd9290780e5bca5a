"""How an orchestrator that has just taken the lead begins."""

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.configuration import load
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.control import STATUS_TABLE
from tablecast.kafka.names import system_changelog
from tablecast.kafka.status import State
from tablecast.orchestrator import orchestrator as module
from tablecast.orchestrator.blueprint import draw
from tablecast.orchestrator.orchestrator import Orchestrator
from tests.unit.orchestrator.scripted import ScriptedBoard, ScriptedClerk


def test_the_row_of_the_status_goes_on_after_a_leader_whose_clock_was_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = time.time_ns() // 1_000_000 + 3_600_000
    configuration = load(None, {})
    prefix = configuration.settings.changelog.prefix

    def standing(_: object, topic: str) -> Iterator[object]:
        assert topic == system_changelog(prefix, STATUS_TABLE)
        yield SimpleNamespace(headers=lambda: [(VERSION_HEADER, f"{ahead}:0:0".encode())])

    monkeypatch.setattr(module, "standing", standing)
    monkeypatch.setattr(module, "Topics", lambda *_: None)
    monkeypatch.setattr(module, "ensure_system_topics", lambda *_: None)
    monkeypatch.setattr(module, "generations_with_remains", lambda *_: set())
    monkeypatch.setattr(module, "Clerk", lambda *_: ScriptedClerk())
    made = Orchestrator(configuration, cast("Any", None), cast("Any", None), threading.Event())
    assert made._set_up(cast("Any", ScriptedBoard())).clock.next() == ahead + 2, "after the row that the newcomer has said itself"


def test_what_is_left_of_generations_that_are_over_or_unknown_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after another orchestrator led, which could not reach the checkpoints of this one; or after the status topic was lost."""
    configuration, board, removed = load(None, {}), ScriptedBoard(), list[int]()
    for number, state in ((1, "retired"), (2, "lingering"), (3, "live"), (4, "hydrating"), (5, "failed")):
        board.announce(draw(number, configuration.catalog, configuration.settings).status(cast("State", state)))
    monkeypatch.setattr(module, "Topics", lambda *_: None)
    monkeypatch.setattr(module, "generations_with_remains", lambda *_: {1, 2, 3, 9})
    monkeypatch.setattr(module, "remove_generation", lambda number, *_: removed.append(number))
    Orchestrator(configuration, cast("Any", None), cast("Any", None), threading.Event())._clean_up(cast("Any", board))
    assert removed == [4, 1, 9]
    assert board.said[-1] == (4, "retired")
