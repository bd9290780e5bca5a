"""No input of a stranger crashes, hangs, fills the memory or leaves a trace in the log.

A seeded share is tried here; `make fuzz` tries a hundred thousand.
"""

import asyncio
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.unit.server.talking import Serving, Talk, TalkTo

from .campaign import REPORT, Campaign
from .logins import logins
from .sockets import raw_bytes
from .targets import Target, conditions, http_queries, hub_of_people, kafka_records, orchestrator_control, server_control, session, wire

Explore = Callable[[str, Target], None]

SHARES = {
    "wire": 20,
    "logins": 6,
    "session": 22,
    "conditions": 15,
    "http_queries": 8,
    "orchestrator_control": 8,
    "server_control": 7,
    "kafka_records": 4,
    "sockets": 10,
}
"""Of a hundred inputs."""


@pytest.fixture(scope="module", autouse=True)
def new_report() -> None:
    REPORT.unlink(missing_ok=True)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Explore:
    def run(name: str, target: Target) -> None:
        campaign = Campaign(name)
        try:
            campaign.run(target, request.config.getoption("--inputs") * SHARES[name] // 100, request.config.getoption("--fuzz-seed"))
        finally:
            campaign.report()

    return run


def test_the_shares_are_of_a_hundred() -> None:
    assert sum(SHARES.values()) == 100


def test_wire(explore: Explore) -> None:
    explore("wire", wire())


def test_logins(explore: Explore, runner: asyncio.Runner) -> None:
    explore("logins", runner.run(logins()))


def test_session(explore: Explore, talk_to: TalkTo, runner: asyncio.Runner) -> None:
    def talk(hub: object) -> Talk:
        return talk_to(hub, login=False, messages_per_second=1_000_000)

    explore("session", session(talk, runner))


def test_conditions(explore: Explore) -> None:
    explore("conditions", conditions())


def test_http_queries(explore: Explore) -> None:
    explore("http_queries", http_queries())


def test_orchestrator_control(explore: Explore) -> None:
    explore("orchestrator_control", orchestrator_control())


def test_server_control(explore: Explore, runner: asyncio.Runner) -> None:
    explore("server_control", server_control(runner))


def test_kafka_records(explore: Explore) -> None:
    explore("kafka_records", kafka_records())


def test_sockets(explore: Explore, serving: Serving) -> None:
    with serving(hub_of_people()) as url:
        explore("sockets", raw_bytes(url))
        assert httpx.get(f"{url}/readyz").status_code == 200
