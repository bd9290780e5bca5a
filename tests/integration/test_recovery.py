"""The driver is killed in the middle of a stream, three times, and every table still ends in the truth (T6)."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from bench.stack import KEY, Stack, all_on
from tablecast.configuration import load
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import changelog_topic
from tests.pipeline.changelogs import Changelogs
from tests.pipeline.running import Draft, Running
from tests.pipeline.test_tables import START, account, bad, user

MESSAGES = 100_000
PARTS = 4
USERS = 20_000
CHUNK = 1_000
PATIENCE = 240.0

CreateTopic = Callable[..., str]


def drafts(numbers: range) -> Iterator[Draft]:
    """Users and accounts of random keys and partitions, one in a thousand bad, some a little late. The same numbers give the same drafts."""
    for number in numbers:
        dice = random.Random(number)
        after, partition, key = number - dice.randrange(20), dice.randrange(2), f"u{dice.randrange(USERS)}"
        if number % 1000 == 999:
            yield bad("users", b"{", "not_json", after, partition)
        elif number % 2:
            yield account(key, float(number), after, partition)
        else:
            yield user(key, f"n{number}", after, partition)


@pytest.fixture
def world(
    broker: EmbeddedBroker, create_topic: CreateTopic, topic_name: Callable[[str], str], jars_dir: Path, tmp_path: Path
) -> Iterator[tuple[Stack, Running]]:
    """Orchestrator and server as processes of their own, on the broker of the run."""
    sources = {f"sources.{name}.topic": create_topic(name, 2, {"retention.ms": "-1"}) for name in ("users", "accounts")}
    prefix = topic_name("prefix")[-60:].strip("-")
    settings = {**all_on(broker.servers), **sources, "changelog.prefix": prefix, "pipeline.checkpoint_interval": "10 seconds"}
    catalog = load(None, {}, [f"{key}={value}" for key, value in sources.items()]).catalog
    with Stack(tmp_path, jars_dir.absolute(), "run", settings, {"TABLECAST_SERVER_PSK": KEY}) as stack:
        stack.wait_until_open(PATIENCE)
        topics = {table: changelog_topic(prefix, table, 1) for table in catalog.columns()}
        running = Running(catalog, broker.kafka, Changelogs(broker.kafka, topics), [], make_producer(broker.kafka, {"linger.ms": 5}))
        yield stack, running
        running.close()


def kill_driver(stack: Stack) -> None:
    orchestrator = stack.process_of("orchestrator")
    for process in [*orchestrator.children(recursive=True), orchestrator]:
        process.kill()
    psutil.wait_procs([orchestrator], 10)


def test_a_driver_that_is_killed_three_times_loses_and_doubles_nothing(world: tuple[Stack, Running]) -> None:
    stack, running = world
    size = MESSAGES // PARTS
    for part in range(PARTS):
        before = running.changelogs.emitted["users_ui"]
        for start in range(part * size, (part + 1) * size, CHUNK):
            running.send(drafts(range(start, start + CHUNK)))
        if part < PARTS - 1:
            until_some_come_out(running, before + 100)
            kill_driver(stack)
    assert len(running.sent) == MESSAGES
    running.expect_truth(PATIENCE)
    assert max(sent.ts for sent in running.sent) < START + MESSAGES
    assert running.changelogs.emitted["users_ui"] > len(running.changelogs.rows["users_ui"]), "rows came again after a kill, and were known"


def until_some_come_out(running: Running, emitted: int) -> None:
    """The others are still inside."""
    idle = 0
    while running.changelogs.emitted["users_ui"] < emitted:
        idle = 0 if running.changelogs.poll(1.0) else idle + 1
        assert idle < PATIENCE, running.changelogs.emitted
