"""What Spark is started with, and what it needs before."""

from importlib import metadata

import pytest

from tablecast.errors import PackagesMissing
from tablecast.pipeline.session import CHECKPOINTS_ON_DISK, check_packages, session_options
from tablecast.settings import PipelineSettings, Settings


def test_micro_batches_without_their_packages_are_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package != "pandas":
            raise metadata.PackageNotFoundError(package)
        return "2"

    monkeypatch.setattr(metadata, "version", version)
    check_packages(PipelineSettings(trigger="realtime"))
    with pytest.raises(PackagesMissing, match=r"are not installed: protobuf, pyarrow\. Install them with pip install 'tablecast\[microbatch\]'"):
        check_packages(PipelineSettings(trigger="microbatch"))


@pytest.mark.parametrize(("checkpoint_dir", "on_disk"), [(None, True), ("checkpoints", True), ("hdfs://name/checkpoints", False)])
def test_the_manager_for_a_local_disk_has_only_checkpoints_that_are_on_one(checkpoint_dir: str | None, on_disk: bool) -> None:
    settings = Settings().replaced("pipeline", checkpoint_dir=checkpoint_dir)
    assert (CHECKPOINTS_ON_DISK.items() <= session_options(settings, [], {}, []).items()) == on_disk
