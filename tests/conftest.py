"""One real broker for the whole run; a topic of its own for every test."""

import os
import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil
import pytest
from confluent_kafka import KafkaError, Message
from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from tablecast.jars import Jars, fetch
from tablecast.kafka import broker_files
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_admin, make_producer
from tablecast.settings import Settings

pytest_plugins = ["tests.installed"]

REPOSITORY = Path(__file__).parent.parent
END_SECONDS = 5.0
ANSWER_SECONDS = 30.0
ACCESS_CONTROL = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "allow.everyone.if.no.acl.found": "true"}

Record = bytes | str | tuple[bytes | str | None, bytes | str | None]


CreateTopic = Callable[..., str]
Produce = Callable[..., None]


@pytest.fixture(scope="session", autouse=True)
def no_process_left() -> Iterator[None]:
    """Every child that a test starts ends with it, at the latest with the run."""
    yield
    _end_spark()
    children = psutil.Process().children(recursive=True)
    _, left = psutil.wait_procs(children, END_SECONDS)
    told = [" ".join(child.cmdline())[:200] for child in left if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    for child in left:
        child.kill()
    assert not told, f"left behind: {told}"


def _end_spark() -> None:
    """PySpark keeps its Java for a next session, and ends it only with the process."""
    pyspark = sys.modules.get("pyspark")
    gateway = pyspark.SparkContext._gateway if pyspark else None
    if gateway:
        gateway.shutdown()
        gateway.proc.stdin.close()


@pytest.fixture(scope="session")
def jars_dir() -> Path:
    """The jars of this checkout, fetched once if they are not there; TABLECAST_PIPELINE_JARS names another folder."""
    given = os.environ.get("TABLECAST_PIPELINE_JARS")
    pipeline = {"jars": Path(given)} if given else {"state_dir": REPOSITORY / ".tablecast"}
    return fetch(Settings().replaced("pipeline", **pipeline)).folder


@pytest.fixture(scope="session")
def broker(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """It lets everybody do everything, but for what `forbid` has forbidden."""
    settings = Settings().replaced("pipeline", state_dir=tmp_path_factory.mktemp("broker"), jars=jars_dir)
    ours = broker_files.server_properties
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broker_files, "server_properties", lambda address, row_bytes: ours(address, row_bytes) | ACCESS_CONTROL)
        running = EmbeddedBroker(settings, Jars(jars_dir))
        running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def topics(broker: EmbeddedBroker) -> Topics:
    return Topics(broker.kafka, "test")


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Makes names that no other test has, and that say whose they are."""

    def name(hint: str = "") -> str:
        whose = re.sub(r"[^A-Za-z0-9._-]+", "-", request.node.name)[:100].strip("-")
        return "-".join(part for part in (whose, hint, uuid.uuid4().hex[:8]) if part)

    return name


@pytest.fixture
def create_topic(topics: Topics, topic_name: Callable[[str], str]) -> CreateTopic:
    def create(hint: str = "", partitions: int = 1, config: Mapping[str, str] | None = None) -> str:
        name = topic_name(hint)
        topics.ensure(name, partitions, config)
        return name

    return create


@pytest.fixture(scope="session")
def forbid(broker: EmbeddedBroker) -> Callable[[str], None]:
    """From then on everybody sees that the topic is there, and nobody may read it."""
    admin = make_admin(broker.kafka, {})

    def forbid(topic: str) -> None:
        seen = AclBinding(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:*", "*", AclOperation.DESCRIBE, AclPermissionType.ALLOW)
        for future in admin.create_acls([seen]).values():
            future.result(ANSWER_SECONDS)

    return forbid


@pytest.fixture
def produce(broker: EmbeddedBroker) -> Produce:
    """Writes values, or (key, value) pairs, in order, and returns when the broker has them all."""
    producer = make_producer(broker.kafka, {"enable.idempotence": True, "linger.ms": 5, "message.max.bytes": 3_000_000})
    failures: list[str] = []

    def noted(error: KafkaError | None, message: Message) -> None:
        if error:
            failures.append(error.str())

    def write(topic: str, records: Sequence[Record], partition: int = -1, timestamp: int = 0) -> None:
        """Partition -1: by the key. Timestamp 0: now, else milliseconds."""
        for record in records:
            key, value = record if isinstance(record, tuple) else (None, record)
            producer.produce(topic, value, key, partition, on_delivery=noted, timestamp=timestamp)
            producer.poll(0)
        assert producer.flush(30) == 0
        assert not failures

    return write
