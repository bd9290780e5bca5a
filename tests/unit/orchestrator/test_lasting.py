"""Topics that outlive generations: that one of them is gone is noticed, that their broker is away is not taken for it."""

import threading
from typing import Any, cast

import pytest

from tablecast.errors import BrokerUnreachable, TopicMissing
from tablecast.kafka.admin import Topic
from tablecast.orchestrator import lasting as module
from tablecast.orchestrator.lasting import LastingTopics
from tablecast.settings import Settings

PATIENCE = 10.0


class ScriptedTopics:
    """Every topic is there, but for the trouble that a test makes."""

    def __init__(self) -> None:
        self.kafka = Settings().kafka
        self.ids: dict[str, str] = {}
        self.trouble: dict[str, Exception] = {}
        self.asked = 0

    def find(self, name: str) -> Topic:
        self.asked += 1
        if name in self.trouble:
            raise self.trouble[name]
        return Topic(name, self.ids.get(name, "first"), (0,))


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> ScriptedTopics:
    given = ScriptedTopics()
    monkeypatch.setattr(module, "Topics", lambda *_: given)
    monkeypatch.setattr(module, "WATCH_SECONDS", 0.0)
    return given


def lost_until(lasting: LastingTopics, topics: ScriptedTopics, asked: int) -> list[str]:
    """What is found lost by the time that Kafka was asked so often, looking as the orchestrator's loop does."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.001)):
        if (lost := lasting.lost()) or topics.asked >= asked:
            return lost
        pause.wait(0.001)
    raise AssertionError(topics.asked)


def test_a_topic_that_is_gone_or_another_one_is_named(topics: ScriptedTopics) -> None:
    lasting = LastingTopics(cast("Any", None), "t")
    assert lost_until(lasting, topics, 30) == []
    topics.trouble["t.status"] = TopicMissing("t.status", "here:9092")
    topics.ids["t.control"] = "second"
    assert lost_until(lasting, topics, 1000) == ["t.status", "t.control"]


def test_a_broker_that_is_away_has_lost_nothing(topics: ScriptedTopics) -> None:
    lasting = LastingTopics(cast("Any", None), "t")
    topics.trouble["t.status"] = BrokerUnreachable("changelog", "here:9092", "it restarts")
    assert lost_until(lasting, topics, 30) == []
    del topics.trouble["t.status"]
    assert lost_until(lasting, topics, 60) == []
