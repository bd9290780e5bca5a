"""GET /api/topics: what an operator can choose from."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from tablecast.errors import BrokerUnreachable
from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.server.source_topics import KEPT_SECONDS, ListTopics, SourceTopics
from tablecast.settings import ServerSettings

from .talking import KEY, Clock


class Kafka:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.topics: Mapping[str, int] = {"users": 3, "accounts": 1}

    def __call__(self) -> Mapping[str, int]:
        self.asked += 1
        return self.topics


def away() -> Mapping[str, int]:
    raise BrokerUnreachable("source", "localhost:1", "refused")


def get(ask: ListTopics | None, key: str = KEY) -> httpx.Response:
    sources = None if ask is None else SourceTopics(ask)
    app = create_app(Hub(), ServerSettings(), Gate(Keys(SecretStr(KEY))), sources=sources, page=Path("no page"))

    async def fetched() -> httpx.Response:
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server", headers=headers) as client:
            return await client.get("/api/topics")

    return asyncio.run(fetched())


def test_topics_are_told_by_name_with_their_partitions() -> None:
    answer = get(Kafka())
    assert (answer.status_code, answer.json()) == (200, {"topics": [{"name": "accounts", "partitions": 1}, {"name": "users", "partitions": 3}]})


@pytest.mark.parametrize(("ask", "code"), [(away, "broker_unreachable"), (None, "not_ready")])
def test_a_kafka_that_is_away_is_said_to_be(ask: ListTopics | None, code: str) -> None:
    answer = get(ask)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, code)
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


def test_nothing_is_told_without_the_key() -> None:
    kafka = Kafka()
    assert (get(kafka, "wrong").status_code, kafka.asked) == (401, 0)


def test_kafka_is_asked_once_for_all_who_ask_at_once_and_again_later(clock: Clock) -> None:
    kafka = Kafka()

    async def ask() -> None:
        sources = SourceTopics(kafka, clock)
        await asyncio.gather(*(sources.listed() for _ in range(20)))
        assert kafka.asked == 1
        kafka.topics = {"orders": 1}
        assert [topic.name for topic in await sources.listed()] == ["accounts", "users"]
        clock.now += KEPT_SECONDS
        assert [topic.name for topic in await sources.listed()] == ["orders"]

    asyncio.run(ask())
