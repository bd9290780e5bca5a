"""One Spark session for the whole run, and one secured broker."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tablecast.jars import Jars
from tablecast.kafka.admin import Topics
from tablecast.pipeline.session import start_session
from tablecast.settings import Settings
from tests.certificates import Authority
from tests.secured_broker import CLIENT, SECRET, SecuredBroker
from tests.token_server import TokenServer


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


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def tokens(authority: Authority) -> Iterator[TokenServer]:
    with TokenServer({CLIENT: SECRET}, certificate=authority.issue("login")) as server:
        yield server


@pytest.fixture(scope="session")
def secured(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory, authority: Authority, tokens: TokenServer) -> Iterator[SecuredBroker]:
    """Users may read what begins with `open`, and do what a pipeline does with what begins with `own`."""
    with SecuredBroker(tmp_path_factory.mktemp("secured") / "broker", Jars(jars_dir), authority, tokens) as broker:
        broker.allow([AclOperation.READ], "open")
        broker.allow([AclOperation.CREATE, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE], "own")
        topics = Topics(broker.super, "test")
        for name in ("open.users", "open.accounts", "open.control", "closed"):
            topics.ensure(name, 1)
        yield broker
