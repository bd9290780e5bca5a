"""H5: kill -9 of the orchestrator in each state of a swap ends in one whole generation, and the message is applied."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.stack import KEY, Stack, all_on
from tablecast.configuration import load
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.control import send_control
from tablecast.kafka.names import system_changelog
from tablecast.kafka.standing import standing
from tablecast.orchestrator.board import StatusBoard
from tests.integration.test_recovery import PATIENCE, kill_driver
from tests.pipeline.pair import Pair
from tests.pipeline.world import until

CreateTopic = Callable[..., str]


class Swapped:
    """A stack of processes over two pairs of topics."""

    def __init__(self, stack: Stack, broker: EmbeddedBroker, prefix: str, pairs: list[Pair]) -> None:
        self.stack = stack
        self.kafka = broker.kafka
        self.prefix = prefix
        self.pairs = pairs
        self._settings = load(None, {}, [f"changelog.prefix={prefix}"]).settings

    def states(self) -> dict[int, str]:
        return {number: status.state for number, status in StatusBoard(self.kafka, self._settings).generations.items()}

    def verdict(self, message: str) -> dict[str, Any]:
        rows = [record.value() for record in standing(self.kafka, system_changelog(self.prefix, "control_raw")) if record.key() == message.encode()]
        return json.loads(rows[-1] or b"{}") if rows else {}


@pytest.fixture
def swapped(broker: EmbeddedBroker, create_topic: CreateTopic, topic_name: Callable[[str], str], jars_dir: Path, tmp_path: Path) -> Iterator[Swapped]:
    prefix = topic_name("prefix")[-60:].strip("-")
    topics = [{name: create_topic(f"{name}{number}", 2, {"retention.ms": "-1"}) for name in ("users", "accounts")} for number in range(2)]
    pairs = [Pair(broker.kafka, prefix, **pair) for pair in topics]
    for pair in pairs:
        pair.send(100)
    sources = {f"sources.{name}.topic": topic for name, topic in topics[0].items()}
    settings = {**all_on(broker.servers), **sources, "changelog.prefix": prefix, "pipeline.linger_seconds": "2"}
    with Stack(tmp_path, jars_dir.absolute(), "run", settings, {"TABLECAST_SERVER_PSK": KEY}) as stack:
        stack.wait_until_open(PATIENCE)
        yield Swapped(stack, broker, prefix, pairs)


def test_an_orchestrator_that_is_killed_in_each_state_of_a_swap_ends_whole(swapped: Swapped) -> None:
    for number, state in enumerate(("building", "hydrating", "lingering"), start=1):
        target = swapped.pairs[number % 2]
        before = max(swapped.states())
        send_control(swapped.kafka, swapped.prefix, target.message(joinType=("left", "inner")[number % 2]), f"swap {number}")
        until(lambda before=before, state=state: _reached(swapped.states(), before, state), swapped.states)  # type: ignore[misc]
        kill_driver(swapped.stack)
        target.send(20)
        until(lambda number=number: swapped.verdict(f"swap {number}").get("verdict") == "applied", swapped.states)  # type: ignore[misc]
        until(lambda: set(swapped.states().values()) == {"live", "retired"}, swapped.states)
        live = max(number for number, state in swapped.states().items() if state == "live")
        target.expect_truth(live, ("left", "inner")[number % 2])
    names = Topics(swapped.kafka).names()
    assert not [name for name in names if name.startswith(f"{swapped.prefix}.") and ".g" in name and f".g{live}" not in name]


def _reached(states: dict[int, str], before: int, state: str) -> bool:
    """Whether the swap has come to this state, or is past it."""
    order = ["building", "hydrating", "ready", "live", "lingering", "retired"]
    if state == "lingering":
        return states[before] in ("lingering", "retired")
    return order.index(states.get(before + 1, "building")) >= order.index(state) and before + 1 in states
