"""The demo's siblings die by kill -9, one after the other: the tables go on with nothing lost and nothing doubled (T6). The page: tests/browser."""

import json
import re
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Producer

from bench.stack import Stack
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer

GONE_SECONDS = 10.0
RESTART_SECONDS = 150.0
FLUSH_SECONDS = 120.0
MESSAGES = 200
# One sample in three hours after the first lot, so that a test knows what was sent.
QUIET = {"demo.rate": 0.0001}


@pytest.fixture(scope="module")
def stack(jars_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Ended by kill -9 of its supervisor: its siblings notice."""
    with Stack(tmp_path_factory.mktemp("demo"), jars_dir.absolute(), settings=QUIET) as running:
        running.wait_until_open()
        yield running
        ending = running.stop(signal.SIGKILL, grace=GONE_SECONDS)
    assert ending.left == ()


class Users:
    """Sends users of a prefix that nobody else has, and knows how many."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.prefix = uuid.uuid4().hex[:8]
        self.ids: list[str] = []
        self._failures: list[str] = []
        self._producer: Producer = make_producer(stack.kafka, {"linger.ms": 5, "enable.idempotence": True})

    def send(self, count: int = MESSAGES) -> None:
        """Does not wait for the broker, which may be down."""
        for _ in range(count):
            self.ids.append(f"{self.prefix}-{len(self.ids)}")
            value = json.dumps({"userId": self.ids[-1], "name": "n", "email": "e@example.com", "age": 1})
            self._producer.produce("users", value, on_delivery=lambda error, _: self._failures.append(str(error)) if error else None)

    def flush(self) -> None:
        assert self._producer.flush(FLUSH_SECONDS) == 0
        assert not self._failures

    def shown(self) -> list[Any]:
        """Which of them the server shows, once it has read all that is in the topic, in the order of the table."""
        sent = Topics(self.stack.kafka, "source").end_offsets("users")[0]
        for table in ("users_ui", "final_ui"):
            self.stack.wait_for_rows(table, sent, RESTART_SECONDS)
            assert self.stack.rows(table)["total"] == sent
        condition = json.dumps({"op": "starts", "column": "userId", "value": self.prefix})
        return [row["userId"] for row in self.stack.rows("users_ui", size=1000, filter=condition)["rows"]]


def java_of(process: psutil.Process) -> psutil.Process:
    return next(child for child in process.children(recursive=True) if "java" in child.name())


def test_a_killed_orchestrator_goes_on_where_it_was(stack: Stack) -> None:
    users = Users(stack)
    users.send()
    users.flush()
    assert users.shown() == users.ids
    seen = len(stack.log.lines)
    stack.process_of("orchestrator").kill()
    users.send()
    stack.log.wait_for(re.compile(r"\[supervisor\] orchestrator ended \(killed by SIGKILL\)"), RESTART_SECONDS, seen)
    stack.log.wait_for(re.compile(r"\[orchestrator\] generation 1 goes on"), RESTART_SECONDS, seen)
    users.send()
    users.flush()
    assert users.shown() == users.ids


def test_a_killed_kafka_comes_back_with_all_that_it_had(stack: Stack) -> None:
    users = Users(stack)
    users.send()
    users.flush()
    seen = len(stack.log.lines)
    java_of(stack.process_of("broker")).kill()
    users.send()
    stack.log.wait_for(re.compile(r"\[broker\] Kafka listens at "), RESTART_SECONDS, seen)
    users.send()
    users.flush()
    assert users.shown() == users.ids
