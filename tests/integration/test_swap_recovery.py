"""H5: whoever is killed in whatever state of a swap, it ends in one whole generation, and the message is applied."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from bench.stack import Stack, bare_stack
from tablecast.configuration import load
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.control import send_control
from tablecast.kafka.names import status_topic, system_changelog
from tablecast.kafka.standing import standing
from tablecast.kafka.status import PULSE_KEY, decode_status
from tablecast.orchestrator.board import StatusBoard
from tablecast.processes.folder_lock import alive
from tablecast.settings import KafkaSettings
from tests.integration.test_recovery import PATIENCE, kill_driver
from tests.pipeline.pair import Pair
from tests.pipeline.world import until


class Announcements:
    """What is said of generations from now on, as soon as it is said."""

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        topic = status_topic(prefix)
        self._consumer = make_consumer(kafka, {"group.id": topic, "enable.auto.commit": False})
        self._consumer.assign([TopicPartition(topic, 0, Topics(kafka).end_offsets(topic)[0])])

    def wait_for(self, state: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while self._next() != state:
            assert time.monotonic() < deadline, f"nothing was {state}"

    def _next(self) -> str | None:
        message = self._consumer.poll(1.0)
        if message is None or message.error() is not None or message.key() == PULSE_KEY:
            return None
        return decode_status(message.value() or b"").state


class Swapped:
    """A stack of processes over two pairs of topics."""

    def __init__(self, stack: Stack, prefix: str, pairs: list[Pair]) -> None:
        self.stack = stack
        self.kafka = stack.kafka
        self.prefix = prefix
        self.pairs = pairs
        self._settings = load(None, {}, [f"changelog.prefix={prefix}"]).settings

    def states(self) -> dict[int, str]:
        return {number: status.state for number, status in StatusBoard(self.kafka, self._settings).generations.items()}

    def verdict(self, message: str) -> dict[str, Any]:
        rows = [record.value() for record in standing(self.kafka, system_changelog(self.prefix, "control_raw")) if record.key() == message.encode()]
        return json.loads(rows[-1] or b"{}") if rows else {}

    def swap(self, number: int, state: str, kill: Callable[[Stack], None]) -> int:
        """Asks for the other pair, kills somebody in this state, and sees that all ends well. The generation that is live then."""
        target, join = self.pairs[number % 2], ("left", "inner")[number % 2]
        announcements = Announcements(self.kafka, self.prefix)
        send_control(self.kafka, self.prefix, target.message(joinType=join), f"swap {number}")
        announcements.wait_for(state)
        kill(self.stack)
        target.send(20)
        until(lambda: self.verdict(f"swap {number}").get("verdict") == "applied", self.states)
        until(lambda: set(self.states().values()) <= {"live", "retired", "failed"}, self.states)
        [live] = [number for number, state in self.states().items() if state == "live"]
        target.expect_truth(live, join)
        return live

    def left_over(self, live: int) -> list[str]:
        """Changelogs of generations that are gone."""
        names = Topics(self.kafka).names()
        return [name for name in names if name.startswith(f"{self.prefix}.") and ".g" in name and f".g{live}" not in name]


@pytest.fixture(scope="module")
def swapped(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swapped]:
    """The broker is one of the siblings, because it is to be killed too."""
    topics = [{name: f"{name}{number}" for name in ("users", "accounts")} for number in range(2)]
    settings = {f"sources.{name}.topic": topic for name, topic in topics[0].items()} | {"pipeline.linger_seconds": "2"}
    with bare_stack(tmp_path_factory.mktemp("swapped"), jars_dir.absolute(), settings) as stack:
        stack.wait_for_broker(PATIENCE)
        for name in [name for pair in topics for name in pair.values()]:
            Topics(stack.kafka).ensure(name, 2, {"retention.ms": "-1"})
        pairs = [Pair(stack.kafka, "tablecast", **pair) for pair in topics]
        for pair in pairs:
            pair.send(100)
        stack.wait_until_open(PATIENCE)
        yield Swapped(stack, "tablecast", pairs)


def kill_broker(stack: Stack) -> None:
    """It is started again by its supervisor, at the same address."""
    broker = stack.process_of("broker")
    family = [*broker.children(recursive=True), broker]
    for process in family:
        process.kill()
    until(lambda: not any(alive(process.pid) for process in family), lambda: family)


def test_an_orchestrator_that_is_killed_in_each_state_of_a_swap_ends_whole(swapped: Swapped) -> None:
    """The new one is live when the old one lingers: both are said at one instant."""
    for number, state in enumerate(("building", "hydrating", "ready", "lingering"), start=1):
        live = swapped.swap(number, state, kill_driver)
    assert swapped.left_over(live) == []


def test_a_broker_that_is_killed_during_a_swap_ends_whole(swapped: Swapped) -> None:
    live = swapped.swap(5, "hydrating", kill_broker)
    assert swapped.left_over(live) == []
