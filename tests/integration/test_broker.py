"""The embedded broker, for real: it keeps what it acknowledged, it says why it does not start, and it dies with its parent."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError, TopicPartition

from tablecast.errors import BrokerFailed, BrokerUnreachable, PortInUse, StateDirInUse, TopicMissing
from tablecast.jars import Jars
from tablecast.kafka import broker_files
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.broker import EmbeddedBroker, wait_for_broker
from tablecast.kafka.broker_files import free_port, read_address
from tablecast.kafka.clients import make_consumer, make_producer
from tablecast.processes.folder_lock import alive
from tablecast.settings import KafkaSettings, Settings

WRAPPER = """
import sys, threading
from pathlib import Path
from tablecast.jars import Jars
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.processes.stop_event import stop_event
from tablecast.settings import Settings
stop = stop_event()
settings = Settings().replaced("pipeline", state_dir=Path(sys.argv[1]))
broker = EmbeddedBroker(settings, Jars(Path(sys.argv[2])))
broker.run(stop, on_up=lambda kafka: print(broker.pid, flush=True))
"""


@pytest.fixture
def settings(tmp_path: Path, jars_dir: Path) -> Settings:
    return Settings().replaced("pipeline", state_dir=tmp_path / "state", jars=jars_dir)


@pytest.fixture
def own_broker(settings: Settings, jars_dir: Path) -> Iterator[EmbeddedBroker]:
    """A broker that a test may break. Not started."""
    broker = EmbeddedBroker(settings, Jars(jars_dir))
    yield broker
    broker.stop()


def write(kafka: KafkaSettings, topic: str, values: list[str]) -> None:
    producer = make_producer(kafka, {"acks": "all"})
    failures: list[KafkaError] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(20) == 0
    assert not failures


def read(kafka: KafkaSettings, topic: str, count: int) -> list[str]:
    consumer = make_consumer(kafka, {"group.id": "test", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        messages = consumer.consume(count, timeout=20)
        return [(message.value() or b"").decode() for message in messages]
    finally:
        consumer.close()


def test_records_are_kept_where_they_were_put(topics: Topics, create_topic: Callable[..., str], produce: Callable[..., None]) -> None:
    topic = create_topic("users", partitions=2)
    produce(topic, ["a", ("k", "b")], partition=1)
    assert topics.end_offsets(topic) == {0: 0, 1: 2}
    assert topics.begin_offsets(topic) == {0: 0, 1: 0}
    assert topics.partitions(topic) == 2


def test_a_row_of_the_largest_size_fits_with_its_key(topics: Topics, create_topic: Callable[..., str], produce: Callable[..., None]) -> None:
    topic = create_topic()
    produce(topic, [("k" * 1_000_000, "v" * 1_000_000)])
    assert topics.end_offsets(topic) == {0: 1}


def test_a_topic_is_made_once_and_only_when_asked(topics: Topics, topic_name: Callable[..., str]) -> None:
    topic = topic_name()
    with pytest.raises(TopicMissing, match=topic):
        topics.check_readable(topic)
    assert topics.ensure(topic, 3, {"cleanup.policy": "compact"})
    assert not topics.ensure(topic, 1)
    assert topics.partitions(topic) == 3
    topics.check_readable(topic)


def test_a_deleted_topic_is_gone_when_the_call_returns_and_can_be_made_again(
    topics: Topics, create_topic: Callable[..., str], produce: Callable[..., None]
) -> None:
    topic = create_topic()
    produce(topic, ["a"])
    topics.delete([topic, "never-was-there"])
    assert topic not in topics.names()
    assert topics.ensure(topic, 1)
    assert topics.end_offsets(topic) == {0: 0}


def test_a_new_topic_is_usable_at_once(topics: Topics, create_topic: Callable[..., str], produce: Callable[..., None]) -> None:
    for number in range(10):
        topic = create_topic(str(number), partitions=4)
        assert set(topics.end_offsets(topic)) == {0, 1, 2, 3}


def test_asking_whether_a_topic_may_be_made_makes_none(topics: Topics, topic_name: Callable[..., str]) -> None:
    topic = topic_name()
    topics.may_create(topic)
    assert topic not in topics.names()


def test_asking_for_a_topic_never_makes_it_even_where_brokers_would(own_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = broker_files.server_properties
    eager = {"auto.create.topics.enable": "true"}
    monkeypatch.setattr(broker_files, "server_properties", lambda address, row_bytes: ours(address, row_bytes) | eager)
    own_broker.start()
    topics = Topics(own_broker.kafka)
    for ask in (topics.partitions, topics.end_offsets, topics.check_readable):
        with pytest.raises(TopicMissing):
            ask("absent")
    assert topics.names() == set()


def test_a_restart_keeps_port_and_data(own_broker: EmbeddedBroker) -> None:
    own_broker.start()
    address = own_broker.address
    Topics(own_broker.kafka).ensure("kept", 1)
    write(own_broker.kafka, "kept", ["a", "b"])
    own_broker.stop()
    own_broker.start()
    assert own_broker.address == address
    assert read(own_broker.kafka, "kept", 2) == ["a", "b"]


def test_a_killed_kafka_is_noticed_and_loses_no_acknowledged_record(own_broker: EmbeddedBroker, settings: Settings) -> None:
    failures: list[BrokerFailed] = []

    def run() -> None:
        try:
            own_broker.run(threading.Event(), on_up=lambda kafka: up.set())
        except BrokerFailed as error:
            failures.append(error)

    up = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    assert up.wait(60)
    Topics(own_broker.kafka).ensure("kept", 1)
    write(own_broker.kafka, "kept", [str(number) for number in range(1000)])
    assert own_broker.pid is not None
    os.kill(own_broker.pid, signal.SIGKILL)
    thread.join(10)
    assert len(failures) == 1
    own_broker.start()
    assert wait_for_broker(settings, 10) == own_broker.kafka
    assert read(own_broker.kafka, "kept", 1000) == [str(number) for number in range(1000)]


def test_kafka_dies_with_its_killed_parent_and_the_next_one_takes_over(own_broker: EmbeddedBroker, settings: Settings, jars_dir: Path) -> None:
    command = [sys.executable, "-c", WRAPPER, str(settings.pipeline.state_dir), str(jars_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        kafka = int(parent.stdout.readline())
        with pytest.raises(StateDirInUse, match=str(parent.pid)):
            own_broker.start()
        parent.kill()
    own_broker.start()
    assert not alive(kafka)


def test_kafka_is_out_of_reach_of_the_terminal(broker: EmbeddedBroker) -> None:
    assert broker.pid is not None
    assert os.getsid(broker.pid) != os.getsid(0)


def test_a_taken_port_is_named(settings: Settings, jars_dir: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=rf"{port}.*broker\.port"):
            EmbeddedBroker(settings.replaced("broker", port=port), Jars(jars_dir)).start()


def test_a_broker_that_does_not_start_says_why(own_broker: EmbeddedBroker, settings: Settings) -> None:
    data = settings.broker_dir / "data"
    data.mkdir(parents=True)
    (data / "meta.properties").write_text("version=1\ncluster.id=another\nnode.id=7\n")
    with pytest.raises(BrokerFailed, match="node id 7") as raised:
        own_broker.start()
    assert "broker.log" in raised.value.hint


def test_nobody_at_the_address_is_told(settings: Settings) -> None:
    with pytest.raises(BrokerUnreachable, match="has not started"):
        wait_for_broker(settings, timeout=0.2)
    with pytest.raises(BrokerUnreachable, match="refused"):
        wait_until_up(KafkaSettings({"bootstrap.servers": f"127.0.0.1:{free_port(but=0)}"}), 0.5)


def test_the_address_is_known_to_others(broker: EmbeddedBroker) -> None:
    assert wait_until_up(broker.kafka, 5) == broker.address.cluster


def test_no_address_before_the_first_start(tmp_path: Path) -> None:
    assert read_address(tmp_path) is None
