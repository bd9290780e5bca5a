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
from tablecast.orchestrator import orchestrator as module
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
    monkeypatch.setattr(module, "Clerk", lambda *_: ScriptedClerk())
    made = Orchestrator(configuration, cast("Any", None), cast("Any", None), threading.Event())
    assert made._set_up(cast("Any", ScriptedBoard())).clock.next() == ahead + 1
