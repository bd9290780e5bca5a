"""The demo's siblings die by kill -9: the tables go on with nothing lost and nothing doubled (T6), and who looks is told (V6)."""

import json
import re
import uuid
from typing import Any
from urllib.parse import quote

import psutil
from confluent_kafka import Producer
from playwright.sync_api import expect

from bench.stack import Stack
from tablecast.kafka.clients import make_producer

from .conftest import OpenPage
from .visit import Visit

RESTART_SECONDS = 150.0
FLUSH_SECONDS = 120.0
MESSAGES = 200


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

    def shown(self, table: str) -> list[Any]:
        """Which of them the server shows, in the order of the table, once it shows as many as were sent."""
        condition = json.dumps({"op": "starts", "column": "userId", "value": self.prefix})
        self.stack.wait_for_rows(table, len(self.ids), RESTART_SECONDS, filter=condition)
        return [row["userId"] for row in self.stack.rows(table, size=1000, filter=condition)["rows"]]

    def expect_all(self) -> None:
        for table in ("users_ui", "final_ui"):
            assert self.shown(table) == self.ids


def java_of(process: psutil.Process) -> psutil.Process:
    return next(child for child in process.children(recursive=True) if "java" in child.name())


def look(open_page: OpenPage, stack: Stack) -> Visit:
    visit = open_page(f"/#key={quote(stack.key)}")
    visit.wait_for_rows("users_ui")
    return visit


def expect_stale(visit: Visit, why: str) -> None:
    """The rows stay, and nobody takes them for the newest."""
    expect(visit.find("state")).to_have_text("stale")
    expect(visit.find("trouble")).to_contain_text(re.compile(f"Rows as of .*{why}"))
    expect(visit.rows.first).to_be_visible()


def expect_live(visit: Visit) -> None:
    expect(visit.find("state")).to_have_text("live", timeout=1000 * RESTART_SECONDS)
    expect(visit.find("trouble")).to_have_count(0)


def test_a_killed_orchestrator_goes_on_where_it_was(demo_stack: Stack, open_page: OpenPage) -> None:
    visit = look(open_page, demo_stack)
    users = Users(demo_stack)
    users.send()
    users.flush()
    users.expect_all()
    seen = len(demo_stack.log.lines)
    demo_stack.process_of("orchestrator").kill()
    users.send()
    demo_stack.log.wait_for(re.compile(r"\[supervisor\] orchestrator ended \(killed by SIGKILL\)"), RESTART_SECONDS, seen)
    expect_stale(visit, "The pipeline has not been heard of")
    demo_stack.log.wait_for(re.compile(r"\[orchestrator\] generation \d+ goes on"), RESTART_SECONDS, seen)
    users.send()
    users.flush()
    users.expect_all()
    expect_live(visit)


def test_a_killed_kafka_comes_back_with_all_that_it_had(demo_stack: Stack, open_page: OpenPage) -> None:
    visit = look(open_page, demo_stack)
    users = Users(demo_stack)
    users.send()
    users.flush()
    seen = len(demo_stack.log.lines)
    java_of(demo_stack.process_of("broker")).kill()
    users.send()
    expect_stale(visit, "does not answer|has not been heard of")
    demo_stack.log.wait_for(re.compile(r"\[broker\] Kafka listens at "), RESTART_SECONDS, seen)
    users.send()
    users.flush()
    users.expect_all()
    expect_live(visit)
