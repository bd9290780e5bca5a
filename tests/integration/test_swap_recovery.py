"""H5: whoever is killed in whatever state of a swap, it ends in one whole generation, the message is applied, and the server serves the truth."""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from bench.stack import READY, Stack, bare_stack
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.control import send_control
from tablecast.kafka.names import status_topic, system_changelog
from tablecast.kafka.status import State, decode_status, is_generation
from tablecast.processes.folder_lock import alive
from tablecast.settings import KafkaSettings
from tests.integration.killed_at_a_state import KilledAtAState
from tests.integration.test_recovery import PATIENCE, kill_driver
from tests.pipeline.followed import Watched
from tests.pipeline.pair import Pair
from tests.pipeline.world import TWO_TABLES, until

GONE_SECONDS = 10.0
PAGE = 1000
AS_OF = """
[tables.user_account]
join = "asof"
left = "accounts"
right = "users"
on = "userId"
"""


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
        if message is None or message.error() is not None or not is_generation(message.key() or b""):
            return None
        return decode_status(message.value() or b"").state


class Swapped:
    """A stack of processes over two pairs of topics."""

    def __init__(self, stack: Stack, prefix: str, pairs: list[Pair], fault: KilledAtAState) -> None:
        self.stack = stack
        self.fault = fault
        self.kafka = stack.kafka
        self.prefix = prefix
        self.pairs = pairs
        self._watched = Watched(stack.kafka)

    def states(self) -> dict[int, str]:
        return {number: status.state for number, status in self._watched.statuses(status_topic(self.prefix)).items()}

    def live(self) -> int:
        [live] = [number for number, state in self.states().items() if state == "live"]
        return live

    def verdict(self, message: str) -> dict[str, Any]:
        row = self._watched.rows(system_changelog(self.prefix, "control_raw")).get(message)
        return json.loads(row) if row is not None else {}

    def ask(self, number: int, state: str) -> None:
        """Asks for the other pair, and waits until the generation that comes of it is in this state."""
        target, join = self._target(number)
        announcements = Announcements(self.kafka, self.prefix)
        send_control(self.kafka, self.prefix, target.message(joinType=join), f"swap {number}")
        announcements.wait_for(state)

    def swap(self, number: int, state: str, kill: Callable[[Stack], None]) -> int:
        """Asks for the other pair, kills somebody in this state, and sees that all ends well. The generation that is live then."""
        self.ask(number, state)
        kill(self.stack)
        return self.expect_whole(number)

    def expect_whole(self, number: int) -> int:
        target, join = self._target(number)
        target.send(20)
        until(lambda: self.verdict(f"swap {number}").get("verdict") == "applied", self.states)
        until(lambda: set(self.states().values()) <= {"live", "retired", "failed"}, self.states)
        live = self.live()
        target.expect_truth(live, join)
        self._expect_served(live, target)
        return live

    def _expect_served(self, live: int, target: Pair) -> None:
        """What viewers get is what the changelogs hold: every row of every table, in its order."""
        for table, content in target.truth().items():
            cells = [row for _, row in content]
            until(lambda table=table, cells=cells: self._served(table) == (live, cells), lambda table=table: (table, self._served(table)))  # type: ignore[misc]

    def _served(self, table: str) -> tuple[int, list[dict[str, Any]]]:
        """The generation and the rows; nothing while the server is away. Of dead letters only the reason."""
        try:
            answer = self.stack.rows(table, size=PAGE)
        except OSError:
            return 0, []
        assert answer["total"] <= PAGE
        kept = (lambda row: {"reason": row["reason"]}) if table == "dead_letters" else dict
        return answer["generation"], [kept(row) for row in answer["rows"]]

    def _target(self, number: int) -> tuple[Pair, str]:
        return self.pairs[number % 2], ("left", "inner")[number % 2]

    def left_over(self, live: int) -> list[str]:
        """Changelogs of generations that are gone."""
        names = Topics(self.kafka).names()
        return [name for name in names if name.startswith(f"{self.prefix}.") and ".g" in name and f".g{live}" not in name]


@pytest.fixture(scope="module")
def swapped(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swapped]:
    """The broker is one of the siblings, because it is to be killed too."""
    topics = [{name: f"{name}{number}" for name in ("users", "accounts")} for number in range(2)]
    settings = {f"sources.{name}.topic": topic for name, topic in topics[0].items()} | {"pipeline.linger_seconds": "1"}
    fault = KilledAtAState(tmp_path_factory.mktemp("fault") / "code")
    made = bare_stack(tmp_path_factory.mktemp("swapped"), jars_dir.absolute(), settings)
    file = made.state_dir / "tablecast.toml"
    file.write_text(TWO_TABLES + AS_OF)
    with replace(made, environment={**made.environment, **fault.environment}) as stack:
        stack.wait_for_broker(PATIENCE)
        for name in [name for pair in topics for name in pair.values()]:
            Topics(stack.kafka).ensure(name, 2, {"retention.ms": "-1"})
        pairs = [Pair(stack.kafka, "tablecast", **pair, file=str(file)) for pair in topics]
        for pair in pairs:
            pair.send(100)
        stack.wait_until_open(PATIENCE)
        yield Swapped(stack, "tablecast", pairs, fault)


def kill_broker(stack: Stack) -> None:
    """It is started again by its supervisor, at the same address."""
    broker = stack.process_of("broker")
    family = [*broker.children(recursive=True), broker]
    for process in family:
        process.kill()
    until(lambda: not any(alive(process.pid) for process in family), lambda: family)


def kill_server(stack: Stack) -> None:
    server = stack.process_of("server")
    server.kill()
    until(lambda: not alive(server.pid), lambda: server)


def strike(swapped: Swapped, number: int, state: State) -> int:
    """The orchestrator dies with the word that a generation is in this state. The generation that is live in the end."""
    swapped.fault.arm(state)
    driver = swapped.stack.process_of("orchestrator")
    live = swapped.swap(number, state, lambda _: until(lambda: not alive(driver.pid), lambda: driver))
    assert swapped.fault.struck
    assert swapped.left_over(live) == []
    return live


def test_an_orchestrator_that_is_killed_in_each_state_of_a_swap_ends_whole(swapped: Swapped) -> None:
    """The old one lingers from the instant on at which the new one is live."""
    live = strike(swapped, 1, "building")
    assert swapped.states()[live - 1] == "retired"
    # In the middle of its fill, not at the word that it begins.
    live = swapped.swap(2, "hydrating", kill_driver)
    assert swapped.left_over(live) == []
    live = strike(swapped, 3, "ready")
    assert swapped.states()[live - 1] == "retired", "it was ready, and is removed"
    before = swapped.live()
    assert strike(swapped, 4, "live") == before + 1, "it was live, and stays"


def test_a_server_that_is_killed_during_a_swap_comes_back_whole(swapped: Swapped) -> None:
    swapped.swap(5, "hydrating", kill_server)
    live = swapped.swap(6, "live", kill_server)
    assert swapped.left_over(live) == []


def test_an_orchestrator_that_is_paused_in_a_swap_is_fenced_when_it_wakes_and_takes_nothing_with_it(swapped: Swapped, tmp_path: Path) -> None:
    stack = swapped.stack
    driver = stack.process_of("orchestrator")
    family = [driver, *driver.children(recursive=True)]
    swapped.ask(7, "hydrating")
    for process in family:
        process.suspend()
    shared = {"changelog.kafka.bootstrap.servers": swapped.kafka.servers, "pipeline.state_dir": stack.state_dir}
    with Stack(tmp_path, stack.jars, "pipeline", {**stack.settings, **shared}):
        live = swapped.expect_whole(7)
        since = len(stack.log.lines)
        for process in family:
            process.resume()
        stack.log.wait_for(re.compile("Another orchestrator has taken over"), PATIENCE, since)
        until(lambda: not any(alive(process.pid) for process in family), lambda: family)
        assert swapped.expect_whole(7) == live
        assert swapped.left_over(live) == []
    stack.log.wait_for(READY, PATIENCE, since)


def test_a_broker_that_is_killed_during_a_swap_ends_whole(swapped: Swapped) -> None:
    live = swapped.swap(8, "hydrating", kill_broker)
    assert swapped.left_over(live) == []


def test_a_killed_supervisor_leaves_nobody_behind_not_even_spark(swapped: Swapped) -> None:
    """The last one here: nothing runs after it."""
    stack = swapped.stack
    assert any("java" in child.name() for child in stack.process_of("orchestrator").children(recursive=True))
    assert stack.stop(signal.SIGKILL, grace=GONE_SECONDS).left == ()
