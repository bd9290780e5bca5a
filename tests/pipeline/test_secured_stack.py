"""`tablecast run` on a Kafka that wants tokens: it says what is wrong, goes on when that is mended, renews its tokens, and tells no secret."""

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AclOperation

from bench.stack import Stack
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker_files import DATA, free_port
from tablecast.kafka.clients import make_producer
from tests.planted import Planted
from tests.secured_broker import CLIENT, SECRET, SecuredBroker
from tests.token_server import TokenServer

PATIENCE = 90.0
LIFETIME = 6.0
WRITER = "writer"
SECRETS = {name: f"planted-{name}-{uuid.uuid4().hex}" for name in (CLIENT, WRITER, "psk", "unused", "spark")}
SERVER_PATHS = ("/api/status", "/api/tables", "/api/topics", "/api/openapi.json", "/metrics", "/readyz", "/healthz", "/")
WAITING = re.compile(r"\[orchestrator\] waiting: No token for the source Kafka at (?P<servers>\S+) can be had from https://\S+/token: .*Check ")


@dataclass
class World:
    stack: Stack
    secured: SecuredBroker
    tokens: TokenServer
    spark_ui: str
    sent: int = 0

    def send(self, users: int) -> None:
        producer = make_producer(self.secured.super, {})
        for number in range(self.sent, self.sent + users):
            producer.produce("open.stack.users", json.dumps({"userId": f"u{number}", "name": "Zoë", "email": "z@example", "age": 1}).encode())
        assert producer.flush(30) == 0
        self.sent += users

    def feed(self) -> dict[str, str | None]:
        try:
            answer = httpx.get(f"{self.stack.url}/api/status", headers={"authorization": f"Bearer {self.stack.key}"}, timeout=10)
        except httpx.TransportError:
            return {"state": "away", "message": None}
        feed: dict[str, str | None] = answer.json()["feed"]
        return feed

    def until(self, condition: Callable[[], bool], told: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, (told(), self.stack.log.lines[-30:])
            time.sleep(0.1)

    def until_feed(self, state: str, message: str = "") -> None:
        self.until(lambda: (feed := self.feed())["state"] == state and message in (feed["message"] or ""), self.feed)

    def asked(self, by_java: bool) -> int:
        """How many tokens were granted to Spark's Java, or to our Python."""
        return sum(asked.granted and asked.agent.startswith("Java") == by_java for asked in self.tokens.asked)


def settings_of(secured: SecuredBroker, section: str, client: str) -> dict[str, str]:
    kafka = secured.client("OAUTHBEARER", sasl_oauthbearer_client_id=client)
    return {f"{section}.{name}": value for name, value in kafka.root.items() if name != "sasl.oauthbearer.client.secret"}


@pytest.fixture
def world(secured: SecuredBroker, tokens: TokenServer, jars_dir: Path, tmp_path: Path) -> Iterator[World]:
    """Its secrets come from a file, from the environment and from the command line. That of the source is not the one that the endpoint knows."""
    for name in ("open.stack.users", "open.stack.accounts", "open.stack.control", "shut"):
        Topics(secured.super, "test").ensure(name, 1)
    secured.allow([AclOperation.CREATE, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE], "own.stack", [f"User:{WRITER}"])
    tokens.clients |= {CLIENT: "another one", WRITER: SECRETS[WRITER]}
    tokens.lifetime = LIFETIME
    state, port, spark_port = tmp_path / "state", free_port(but=0), free_port(but=0)
    (tmp_path / "events").mkdir()
    for name in (CLIENT, "psk", "spark"):
        (tmp_path / name).write_text(SECRETS[name] + "\n")
    settings = {
        **settings_of(secured, "kafka", CLIENT),
        **settings_of(secured, "changelog.kafka", WRITER),
        "kafka.sasl.password": SECRETS["unused"],
        "changelog.prefix": "own.stack",
        "control.topic": "open.stack.control",
        "sources.users.topic": "open.stack.users",
        "sources.accounts.topic": "open.stack.accounts",
        "server.port": port,
        "pipeline.checkpoint_interval": "5 seconds",
        "pipeline.spark.spark.hadoop.fs.s3a.secret.key.file": tmp_path / "spark",
        "pipeline.spark.spark.ui.enabled": "true",
        "pipeline.spark.spark.ui.port": spark_port,
        "pipeline.spark.spark.sql.ui.retainedExecutions": 1000,
        "pipeline.spark.spark.eventLog.enabled": "true",
        "pipeline.spark.spark.eventLog.compress": "false",
        "pipeline.spark.spark.eventLog.dir": (tmp_path / "events").as_uri(),
    }
    environment = {
        "TABLECAST_SERVER_PSK_FILE": str(tmp_path / "psk"),
        "TABLECAST_KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE": str(tmp_path / CLIENT),
        "TABLECAST_CHANGELOG_KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET": SECRETS[WRITER],
    }
    with Stack(state, jars_dir.absolute(), "run", settings, environment) as stack:
        stack.url, stack.key = f"http://127.0.0.1:{port}", SECRETS["psk"]
        yield World(stack, secured, tokens, f"http://127.0.0.1:{spark_port}")
    tokens.lifetime = 3600
    tokens.clients[CLIENT] = SECRET


def test_a_stack_on_tokens_heals_renews_them_and_tells_no_secret(world: World, tmp_path: Path) -> None:
    world.send(10)
    says_why_it_waits_and_goes_on_when_that_is_mended(world)
    renews_its_tokens(world)
    says_that_no_token_can_be_had_and_goes_on(world)
    refuses_a_topic_without_rights(world)
    tells_no_secret(world, tmp_path)


def says_why_it_waits_and_goes_on_when_that_is_mended(world: World) -> None:
    assert world.stack.log.wait_for(WAITING, PATIENCE)["servers"] == world.secured.servers("TOKEN")
    world.until_feed("filling", "No generation is live yet: No token for the source Kafka")
    world.tokens.clients[CLIENT] = SECRETS[CLIENT]
    world.stack.wait_for_rows("users_ui", 10, PATIENCE)
    world.until_feed("live")


def renews_its_tokens(world: World) -> None:
    """Each kind of client has asked twice more: what it was let in with is not valid any more."""
    before = {by_java: world.asked(by_java) for by_java in (True, False)}
    world.until(lambda: all(world.asked(by_java) >= count + 2 for by_java, count in before.items()), lambda: world.tokens.asked[-5:])
    world.send(10)
    world.stack.wait_for_rows("users_ui", 20, PATIENCE)


def says_that_no_token_can_be_had_and_goes_on(world: World) -> None:
    with world.tokens.unreachable():
        world.until_feed("stale", f"No token for the changelog Kafka at {world.secured.servers('TOKEN')} can be had from")
        world.send(10)
    world.stack.wait_for_rows("users_ui", 30, PATIENCE)
    world.until_feed("live")


def refuses_a_topic_without_rights(world: World) -> None:
    asked = {"usersTopic": "shut", "accountsTopic": "open.stack.accounts"}
    answer = httpx.post(f"{world.stack.url}/api/control", json=asked, headers={"authorization": f"Bearer {world.stack.key}"})
    assert answer.status_code == 202, answer.text
    world.stack.wait_for_rows("control_raw", 1, PATIENCE, filter=json.dumps({"column": "verdict", "op": "eq", "value": "rejected"}))
    [row] = world.stack.rows("control_raw")["rows"]
    assert "may not read the topic 'shut'" in row["reason"]


def tells_no_secret(world: World, tmp_path: Path) -> None:
    stack = world.stack
    planted = Planted([*SECRETS.values(), *world.tokens.issued], [(CLIENT, SECRETS[CLIENT]), (WRITER, SECRETS[WRITER])])
    children = stack.descendants()
    assert {child.name() for child in children} >= {"java"}
    assert planted.in_arguments(children) == []
    assert planted.in_answers(stack.url, SERVER_PATHS, stack.key) == []
    assert planted.in_spark_ui(world.spark_ui) == []
    assert planted.in_files(stack.state_dir) == [], "logs, checkpoints, and all that was printed"
    assert list((tmp_path / "events").rglob("*"))
    assert planted.in_files(tmp_path / "events") == []
    assert planted.in_files(world.secured.folder / DATA) == [], "statuses, verdicts, changelogs"
    assert planted.in_files(tmp_path) == [str(tmp_path / name) for name in ("psk", "spark", CLIENT)], "and it is able to find them"
