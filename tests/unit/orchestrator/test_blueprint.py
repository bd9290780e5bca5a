"""What a generation is made of, and what of it makes another one of it."""

from types import ModuleType

import pyspark
import pytest

import tablecast
from tablecast.configuration import load
from tablecast.orchestrator.blueprint import fingerprint


def fingerprint_of(*overrides: str) -> str:
    configuration = load(None, {}, overrides)
    return fingerprint(configuration.catalog, configuration.settings)


@pytest.mark.parametrize(
    "override",
    [
        "pipeline.history=8",
        "pipeline.row_bytes=2048",
        "pipeline.trigger=microbatch",
        "kafka.bootstrap.servers=elsewhere:9092",
        "sources.users.topic=others",
        "tables.users_ui.max_rows=5",
        "tables.final_ui.join=inner",
    ],
)
def test_what_changes_the_meaning_of_a_checkpoint_makes_another_generation(override: str) -> None:
    assert fingerprint_of(override) != fingerprint_of()


@pytest.mark.parametrize("program", [pyspark, tablecast])
def test_another_version_makes_another_generation(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint_of()
    monkeypatch.setattr(program, "__version__", "another")
    assert fingerprint_of() != before


@pytest.mark.parametrize("override", ["pipeline.starting_offsets=latest", "pipeline.checkpoint_interval=1 minute", "pipeline.twin=true"])
def test_what_does_not_is_taken_over_by_the_one_that_runs(override: str) -> None:
    assert fingerprint_of(override) == fingerprint_of()
