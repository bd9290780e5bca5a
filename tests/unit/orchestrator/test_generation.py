"""What a generation asks of Spark, and when."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.configuration import Configuration, load
from tablecast.orchestrator import generation as module
from tablecast.orchestrator import spans
from tablecast.orchestrator.blueprint import draw
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.keeper import Keeper

PARTITIONS = {"users": 3, "accounts": 5}
STATE_PARTITIONS = 4


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return load(None, {}, [f"pipeline.state_dir={tmp_path}"])


def made(configuration: Configuration, monkeypatch: pytest.MonkeyPatch) -> Generation:
    session = SimpleNamespace(conf=SimpleNamespace(get=lambda _: str(STATE_PARTITIONS)))
    monkeypatch.setattr(module, "Topics", lambda *_: SimpleNamespace(partitions=PARTITIONS.__getitem__))
    settings = configuration.settings
    return Generation(draw(1, configuration.catalog, settings), cast("Any", session), settings, settings.kafka)


def keeper(lost: bool = False) -> Keeper:
    kept = Keeper("q0", cast("Any", None))
    kept.lost = lost
    return kept


def test_it_holds_a_slot_for_each_partition_of_each_stage_of_each_query_that_is_not_lost(
    configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    generation = made(configuration, monkeypatch)
    each = 3 + 5 + STATE_PARTITIONS // 2 + STATE_PARTITIONS
    assert (generation.slots(), generation.held_slots()) == (each, 0)
    generation.crew.keepers = [keeper(), keeper()]
    assert generation.held_slots() == 2 * each, "a twin holds as many again"
    generation.crew.keepers = [keeper(), keeper(lost=True)]
    assert generation.held_slots() == each
    generation.crew.keepers = [keeper(lost=True)]
    assert generation.held_slots() == 0, "what cannot go on is in nobody's way"


def test_no_job_of_spark_is_needed_once_the_queries_run(configuration: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    """With exactly as many slots as its queries hold, a job would wait for ever."""
    generation = made(configuration, monkeypatch)
    jobs, awaited = list[str](), list[object]()

    def mark_lanes(*_: object) -> list[str]:
        jobs.append("lanes")
        return ["lane"]

    def marks(*given: object) -> object:
        awaited.append(given[-1])
        return SimpleNamespace(send=lambda: None, all_came=lambda: True, close=lambda: None)

    monkeypatch.setattr(module, "mark_lanes", mark_lanes)
    monkeypatch.setattr(module, "Marks", marks)
    monkeypatch.setattr(module, "remove_generation", lambda *_: None)
    monkeypatch.setattr(spans, "measure", lambda *_: {})
    monkeypatch.setattr(generation.topics, "create", lambda: None)
    generation.prepare()
    assert jobs == ["lanes"]
    generation.await_marks()
    assert (jobs, awaited) == (["lanes"], [["lane"]])
