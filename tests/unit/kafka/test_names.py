"""Our own topics are told apart from those of the users."""

import pytest

from tablecast.kafka.names import (
    changelog_topic,
    control_topic,
    generation_of,
    is_ours,
    lasting_topics,
    mark_topic,
    seed_topic,
    servers_topic,
    status_topic,
    system_changelog,
)

OURS = (
    status_topic("t"),
    servers_topic("t"),
    control_topic("t"),
    system_changelog("t", "control_raw"),
    system_changelog("t", "orchestrator_status"),
    changelog_topic("t", "users_ui", 12),
    seed_topic("t", 3, 0),
    mark_topic("t", 3, 1),
)


@pytest.mark.parametrize("topic", OURS)
def test_what_we_make_is_ours(topic: str) -> None:
    assert is_ours("t", topic)
    assert not is_ours("other", topic)


def test_a_topic_outlives_generations_or_is_of_one() -> None:
    assert {topic: generation_of("t", topic) for topic in OURS} == dict.fromkeys(lasting_topics("t")) | {
        "t.users_ui.g12": 12,
        "t.seeds.g3.q0": 3,
        "t.marks.g3.q1": 3,
    }


@pytest.mark.parametrize("topic", ["users", "t", "t.users", "t.users.v2", "tx.status", "t.status.v2", "t.users_ui.g", "a.t.status"])
def test_what_others_make_is_not(topic: str) -> None:
    assert not is_ours("t", topic)
