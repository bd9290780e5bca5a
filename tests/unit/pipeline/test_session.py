"""What Spark is started with, and what it needs before."""

from importlib import metadata

import pytest

from tablecast.errors import PackagesMissing
from tablecast.pipeline.session import check_packages
from tablecast.settings import PipelineSettings


def test_micro_batches_without_their_packages_are_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package != "pandas":
            raise metadata.PackageNotFoundError(package)
        return "2"

    monkeypatch.setattr(metadata, "version", version)
    check_packages(PipelineSettings(trigger="realtime"))
    with pytest.raises(PackagesMissing, match=r"are not installed: protobuf, pyarrow\. Install them with pip install 'tablecast\[microbatch\]'"):
        check_packages(PipelineSettings(trigger="microbatch"))
