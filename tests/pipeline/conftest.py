"""One Spark session for the whole run."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tablecast.jars import Jars
from tablecast.kafka.admin import Topics
from tablecast.pipeline.session import start_session
from tablecast.settings import Settings


@pytest.fixture(scope="session")
def spark(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    settings = Settings().replaced("pipeline", state_dir=tmp_path_factory.mktemp("spark"), jars=jars_dir)
    session = start_session(settings, Jars(jars_dir), {})
    yield session
    gateway = SparkContext._gateway
    session.stop()
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(10)


@pytest.fixture(scope="module")
def module_topic(topics: Topics, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Creates topics that all tests of a module share."""
    run = uuid.uuid4().hex[:8]

    def create(hint: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        name = f"{request.node.path.stem}-{hint}-{run}"
        topics.ensure(name, partitions, config)
        return name

    return create
