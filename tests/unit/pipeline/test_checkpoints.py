"""Checkpoints in a folder of this machine; those at paths of Hadoop's are in tests/pipeline/test_orchestrator.py."""

from pathlib import Path
from typing import Any, cast

from tablecast.pipeline.checkpoints import checkpoint_folder, generations_with_checkpoints
from tablecast.settings import PipelineSettings

NO_SPARK = cast("Any", None)


def test_the_generations_that_have_a_folder_are_known(tmp_path: Path) -> None:
    settings = PipelineSettings(state_dir=tmp_path)
    assert generations_with_checkpoints(settings, NO_SPARK) == set()
    for number in (3, 12):
        checkpoint_folder(number, settings, NO_SPARK).write("spans.json", "{}")
    (tmp_path / "checkpoints" / "notes").touch()
    assert generations_with_checkpoints(settings, NO_SPARK) == {3, 12}
    checkpoint_folder(3, settings, NO_SPARK).remove()
    assert generations_with_checkpoints(settings, NO_SPARK) == {12}
