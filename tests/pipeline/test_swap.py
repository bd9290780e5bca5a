"""H1 to H6 on real Spark and Kafka: the topics behind the tables change while the old generation runs, and every end is a whole one."""

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from tablecast.cli import main
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_admin, make_producer
from tablecast.kafka.control import ID_HEADER, MOST_ID, send_control
from tablecast.kafka.names import changelog_topic, control_topic, generation_of, status_topic
from tablecast.orchestrator import clerk, copier, lasting
from tablecast.pipeline.slots import LEAST_LOCAL
from tests.pipeline.pair import Pair
from tests.pipeline.world import PATIENCE, World, until

KEPT = {"retention.ms": "-1"}
BLANK = b'{"usersTopic":" ","accountsTopic":"a"}'
NOT_MESSAGES = (
    *(b"", b"swap!", b"[]", b"7", b'"u"', b"null", b"{}", b'{"usersTopic":"u"}', BLANK, b"\xff", b"[" * 70_000),
    *(b'{"usersTopic":7,"accountsTopic":"a"}', b'{"usersTopic":"a b","accountsTopic":"a"}', b'{"usersTopic":"a","accountsTopic":"a"}'),
    *(b'{"usersTopic":"\\ud800","accountsTopic":"a"}', b'{"usersTopic":"u","accountsTopic":"a","dryRun":"perhaps"}'),
)

CreateTopic = Callable[..., str]
Produce = Callable[..., None]


@pytest.fixture
def world(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path) -> World:
    made = World(spark, broker, {name: create_topic(name, 2, KEPT) for name in ("users", "accounts")}, tmp_path)
    made.overrides.append(f"control.topic={create_topic('control')}")
    return made


@pytest.fixture
def forbidden(create_topic: CreateTopic, forbid: Callable[[str], None]) -> str:
    """A topic that is there and that we may not read."""
    topic = create_topic("forbidden")
    forbid(topic)
    return topic


@pytest.fixture
def pairs(world: World, create_topic: CreateTopic) -> list[Pair]:
    configured = {name: source.topic for name, source in world.configuration().catalog.sources.items()}
    others = {name: create_topic(f"{name}2", 2, KEPT) for name in configured}
    return [Pair(world.kafka, world.prefix, **topics) for topics in (configured, others)]


def control_topic_of(world: World) -> str:
    return world.configuration().settings.control.topic


def left_of(world: World, generation: int) -> list[str]:
    """Topics and folders that a generation still has."""
    names = [name for name in Topics(world.kafka).names() if generation_of(world.prefix, name) == generation]
    folder = world.configuration().settings.pipeline.state_dir / "checkpoints" / f"g{generation}"
    return [*names, *([str(folder)] if folder.exists() else [])]


def own_threads() -> set[threading.Thread]:
    """Without the dummies that Python keeps for threads of librdkafka that once called it."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("Dummy-")}


def bad_messages(one: Pair, other: Pair, forbidden: str) -> list[bytes]:
    """Four hundred, of every kind."""
    bad = [NOT_MESSAGES[number % len(NOT_MESSAGES)] for number in range(200)]
    bad += [one.message(joinType=f"outer{number}") for number in range(50)]
    bad += [other.message(usersTopic=f"missing-{number}") for number in range(50)]
    bad += [other.message(usersTopic=forbidden)] * 50
    return bad + [other.message(usersTopic=one.topics["accounts"])] * 50


def expect_told(world: World, other: Pair, lines: Sequence[str]) -> None:
    """The log has the lines that people look for, and the verdicts every kind of reason."""
    set_to = f"users={other.topics['users']!r} accounts={other.topics['accounts']!r} join='inner'"
    assert f"[orchestrator] topics set {set_to}" in lines
    assert any(line.startswith(f"[orchestrator] applied control: {set_to}") for line in lines)
    assert "[orchestrator] ready" in lines
    states = [line.removeprefix("[orchestrator] generation 2 is ") for line in lines if line.startswith("[orchestrator] generation 2 is ")]
    assert states == ["building", "hydrating", "ready", "live", "lingering", "retired"]
    reasons = {row["reason"] or "" for row in world.controls().values()}
    for kind in (
        "is not JSON",
        "usersTopic is missing",
        "usersTopic is blank",
        "expected left or inner",
        "expected two topics",
        "dryRun is 'perhaps'",
        "There is no topic",
        "These credentials may not read the topic",
        "does not look like users",
    ):
        assert any(kind in reason for reason in reasons), kind


def ask_by_the_command_line(world: World, one: Pair, other: Pair) -> None:
    """What is shown already, then what cannot be, each as a dry run too, then for the first pair again: first only whether, then really."""
    options = [part for override in world.overrides for part in ("--set", override)]
    ask = ["control", "--wait", *options, "--set", f"changelog.kafka.bootstrap.servers={world.kafka.servers}"]
    back = ["--topic", f"users={one.topics['users']}", "--accounts-topic", one.topics["accounts"], "--join", "left"]
    for dry_run in (["--dry-run"], []):
        assert main([*ask, *dry_run, "--users-topic", other.topics["users"], "--join", "inner"]) == 0
        assert main([*ask, *dry_run, "--topic", "users=missing"]) == 1
        assert world.states() == ({1: "retired", 2: "live"})
        assert main([*ask, *dry_run, *back]) == 0
    asked = [row for row in world.controls().values() if '"dryRun": true' in row["text"]]
    would, rejected = ([row["reason"] for row in asked if row["verdict"] == verdict] for verdict in ("would_apply", "rejected"))
    assert re.fullmatch(r"a generation would be filled from [\d,]+ of users, [\d,]+ of accounts", would[0])
    assert "There is no topic 'missing'" in rejected[0]


def ask_in_a_new_partition(world: World) -> None:
    """The user's control topic has one more, and a message in it is answered like any other."""
    topic, before = control_topic_of(world), len(world.controls())
    admin = make_admin(world.kafka, {})
    for future in admin.create_partitions([NewPartitions(topic, 2)]).values():
        future.result(PATIENCE)
    producer = make_producer(world.kafka, {"message.max.bytes": 2_000_000})
    # An id of a megabyte, where our own clients write no message of that size: it is cut, and stops nobody.
    producer.produce(topic, b"by another way", partition=1, headers=[(ID_HEADER, b"x" * 1_000_000)])
    assert producer.flush(PATIENCE) == 0
    world.until(lambda: len(world.controls()) == before + 1)
    assert world.controls()["x" * MOST_ID]["verdict"] == "rejected"


def test_a_swap_behind_everybodys_eyes_with_bad_messages_by_the_hundred(
    world: World, pairs: list[Pair], produce: Produce, forbidden: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(copier, "WATCH_SECONDS", 0.5)
    one, other = pairs
    one.send(200)
    other.send(200)
    control = control_topic_of(world)
    bad = bad_messages(one, other, forbidden)
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "live"})
        one.expect_truth(1)
        threads = own_threads()
        produce(control, [*bad[::2], other.message(joinType=" Inner "), *bad[1::2]])
        world.until(lambda: world.states().get(2) in ("building", "hydrating", "ready", "live"))
        one.send(50)
        other.send(50)
        one.expect_truth(1)
        world.until(lambda: world.states() == {1: "retired", 2: "live"})
        other.send(50)
        other.expect_truth(2, "inner")
        verdicts = [row["verdict"] for row in world.controls().values()]
        # Half of those with a missing topic came before the one that was applied: nobody needed to look at theirs. The others of a kind ask for
        # the same, and got the same answer.
        assert {verdict: verdicts.count(verdict) for verdict in set(verdicts)} == {"applied": 1, "superseded": 25, "rejected": 375}
        row = world.orchestrator_row()
        assert (row["usersTopic"], row["accountsTopic"], row["joinType"]) == (*other.topics.values(), "inner")
        assert (row["generation"], row["state"], row["building"], row["lastError"]) == ("2", "live", None, None)
        assert left_of(world, 1) == []
        status = world.status(2)
        assert status is not None
        assert status.ends.keys() == {changelog_topic(world.prefix, table, 2) for table in world.configuration().catalog.columns()}
        ask_in_a_new_partition(world)
        ask_by_the_command_line(world, one, other)
        one.expect_truth(3)
        world.until(lambda: world.states() == {1: "retired", 2: "retired", 3: "live"})
        until(lambda: own_threads() <= threads, lambda: own_threads() - threads)
    expect_told(world, other, caplog.messages)


def expect_no_slots(world: World, live: Pair, topic: str) -> None:
    """A topic of more partitions than there are slots is refused with the count, and what is live stays."""
    before = world.states()
    send_control(world.kafka, world.prefix, live.message(usersTopic=topic), "many")
    world.until(lambda: world.controls().get("many", {}).get("verdict") == "rejected")
    assert re.search(r"needs \d+ task slots at once, and \d+ of \d+ are free", world.controls()["many"]["reason"])
    number = max(before)
    assert {number: world.states()[number], number + 1: world.states()[number + 1]} == {number: "live", number + 1: "failed"}
    live.send(10)
    live.expect_truth(number, "inner")


def test_a_burst_of_a_thousand_ends_in_the_last_valid_state_with_the_fewest_swaps(
    world: World, pairs: list[Pair], produce: Produce, create_topic: CreateTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clerk, "TRIM_SECONDS", 1.0)
    one, other = pairs
    one.send(30)
    other.send(30)
    messages = [(one, other)[number % 2].message(joinType="left" if number % 3 else "inner") for number in range(997)]
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "live"})
        # A half-built one gives way to the burst.
        send_control(world.kafka, world.prefix, other.message(), "half-built")
        world.until(lambda: world.states().get(2) == "hydrating")
        produce(control_topic_of(world), [*messages, other.message(joinType="inner"), one.message(joinType="outer"), b"bad"])
        world.until(lambda: len(world.controls()) == 1000 and all(row["verdict"] != "pending" for row in world.controls().values()))
        other.expect_truth(max(world.states()), "inner")
        row = world.orchestrator_row()
        assert (row["usersTopic"], row["joinType"], row["state"]) == (other.topics["users"], "inner", "live")
        assert max(world.states()) == 3
        generations = [number for number, state in world.states().items() if state in ("live", "lingering", "retired")]
        assert len(generations) == max(world.states())
        expect_no_slots(world, other, create_topic("many", LEAST_LOCAL))
        # What has no row in control_raw any more is gone from the control topic too, and only that.
        until(lambda: Topics(world.kafka).begin_offsets(control_topic(world.prefix))[0] > 0, world.controls)
        assert len(world.controls()) == 1000


def applied_in(caplog: pytest.LogCaptureFixture) -> int:
    """How many messages were applied, as the log says."""
    return sum(re.search(r"control message \S+: applied", line) is not None for line in caplog.messages)


def test_topics_of_ours_are_deleted_and_all_begins_anew(
    world: World, pairs: list[Pair], produce: Produce, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was asked for before the first start is built at once. What somebody deletes under our feet is made again, and nothing is left behind."""
    caplog.set_level("INFO")
    monkeypatch.setattr(lasting, "WATCH_SECONDS", 0.5)
    _, other = pairs
    other.send(20)
    produce(control_topic_of(world), [b"bad", other.message(joinType="inner")])
    folder = world.configuration().settings.pipeline.state_dir / "checkpoints" / "g77"
    with world.orchestrated():
        until(lambda: applied_in(caplog) == 1, lambda: caplog.messages)
        other.expect_truth(max(world.states()), "inner")
        folder.mkdir()
        Topics(world.kafka).delete([status_topic(world.prefix), control_topic(world.prefix)])
        # The message is read again where it came from, and stands at a place where another one has its verdict.
        until(lambda: applied_in(caplog) == 2, lambda: caplog.messages)
        assert [row["verdict"] for row in world.controls().values()] == ["rejected", "applied"]
        world.until(lambda: set(world.states().values()) <= {"live", "retired"})
        live = max(world.states())
        other.send(20)
        other.expect_truth(live, "inner")
        assert world.orchestrator_row()["generation"] == str(live)
    names = {generation_of(world.prefix, name) for name in Topics(world.kafka).names()}
    assert names - {None} == {live}
    assert [child.name for child in folder.parent.iterdir()] == [f"g{live}"]


def test_a_restart_in_the_middle_of_a_swap_ends_whole(world: World, pairs: list[Pair], produce: Produce) -> None:
    """In good order; test_swap_recovery.py kills, in every state."""
    one, other = pairs
    one.send(60)
    other.send(60)
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "live"})
        produce(control_topic_of(world), [other.message(joinType="inner")])
        world.until(lambda: world.states().get(2) in ("hydrating", "live"))
    other.send(20)
    with world.orchestrated():
        world.until(lambda: [row["verdict"] for row in world.controls().values()] == ["applied"])
        live = max(world.states())
        other.expect_truth(live, "inner")
        world.until(lambda: world.states() == dict.fromkeys(range(1, live), "retired") | {live: "live"})
        assert [left_of(world, number) for number in range(1, live)] == [[]] * (live - 1)


def test_a_generation_that_takes_too_long_fails_and_the_old_one_stays(world: World, pairs: list[Pair]) -> None:
    one, other = pairs
    one.send(20)
    with world.orchestrated("control.fill_limit_seconds=0.3"):
        world.until(lambda: world.states() == {1: "live"})
        send_control(world.kafka, world.prefix, other.message(), "slow")
        world.until(lambda: world.controls().get("slow", {}).get("verdict") == "rejected")
        assert "was not ready within 0.3 s" in world.controls()["slow"]["reason"]
        assert world.states() == {1: "live", 2: "failed"}
        assert left_of(world, 2) == []
        assert "was not ready within" in world.orchestrator_row()["lastError"]
        one.send(20)
        one.expect_truth(1)


def test_a_second_orchestrator_waits_and_takes_over_when_the_first_ends(world: World, pairs: list[Pair]) -> None:
    one, _ = pairs
    one.send(20)
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "live"})
        with world.orchestrated() as second:
            one.send(20)
            one.expect_truth(1)
            assert second.stage is None
            world.stops[0].set()
            world.until(lambda: second.live is not None)
            one.send(20)
            one.expect_truth(1)
            assert world.states() == {1: "live"}
