"""The orchestrator on real Spark and Kafka: a generation is built, goes on after a restart, gives way to another, is built anew when it must."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from tablecast.errors import SparkUnusable
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_admin
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.names import changelog_topic, generation_of
from tablecast.kafka.status import Progress
from tablecast.pipeline.plan import plan_queries
from tablecast.pipeline.progress import FillProgress, StageCount
from tablecast.pipeline.slots import reserve, slots_needed
from tablecast.pipeline.sources import backlog
from tests.pipeline.pair import Pair
from tests.pipeline.world import PATIENCE, TWO_TABLES, World

MICROBATCH = "pipeline.trigger=microbatch"
MORE_COLUMNS = (
    "sources.users.columns.ok=boolean",
    "sources.users.columns.since=timestamp",
    "sources.users.columns.city.type=string",
    "sources.users.columns.city.path=place.at.city",
)
MORE_CELLS: tuple[dict[str, Any], ...] = (
    {"ok": True, "since": "2026-01-02T03:04:05.678901Z", "city": "Köln"},
    {"ok": False, "since": None, "city": 'a "quoted" \\ place'},
)

KEPT = {"retention.ms": "-1"}

CreateTopic = Callable[..., str]
Produce = Callable[..., None]


@pytest.fixture
def world(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path) -> World:
    return World(spark, broker, {name: create_topic(name, 2, KEPT) for name in ("users", "accounts")}, tmp_path, tables=TWO_TABLES)


def user(key: str, name: str) -> dict[str, Any]:
    return {"userId": key, "name": name, "email": None, "age": None}


def topic_of(world: World, source: str) -> str:
    return world.configuration().catalog.sources[source].topic


def test_a_generation_goes_live_goes_on_after_a_restart_and_gives_way_to_another_catalogue(world: World, produce: Produce, tmp_path: Path) -> None:
    """With its checkpoints at a path that names its file system, as they may be on a cluster's."""
    elsewhere = f"pipeline.checkpoint_dir=file://{tmp_path}/elsewhere/"
    users = topic_of(world, "users")
    produce(users, [json.dumps(user("a", "before"))], partition=0, timestamp=1)
    with world.orchestrated(elsewhere):
        world.until(lambda: world.states() == {1: "live"})
        world.until_rows(1, {"users_ui": [user("a", "before")]})
        # Its query fails, is started again, and the reason was told meanwhile.
        world.spark.sparkContext.cancelAllJobs()
        produce(users, [json.dumps(user("b", "live"))], partition=1, timestamp=2)
        world.until_rows(1, {"users_ui": [user("a", "before"), user("b", "live")]})
        assert any("cancelled" in error for error in world.told_errors(1))
        assert world.states() == {1: "live"}
    produce(users, [json.dumps(user("c", "while nobody ran"))], partition=0, timestamp=3)
    with world.orchestrated(elsewhere):
        world.until_rows(1, {"users_ui": [user("a", "before"), user("b", "live"), user("c", "while nobody ran")]})
        assert world.states() == {1: "live"}
    with world.orchestrated(elsewhere, "pipeline.history=8"):
        world.until(lambda: world.states() == {1: "retired", 2: "live"})
        world.until_rows(2, {"users_ui": [user("a", "before"), user("b", "live"), user("c", "while nobody ran")]})
    assert [name for name in Topics(world.kafka).names() if generation_of(world.prefix, name) == 1] == []
    assert [folder.name for folder in (tmp_path / "elsewhere").iterdir()] == ["g2"]
    assert not (tmp_path / "checkpoints").exists()


def test_micro_batches_go_live_from_seeds_and_go_on_after_a_restart(world: World, produce: Produce) -> None:
    def final(balance: float | None) -> dict[str, list[dict[str, Any]]]:
        return {"final_ui": [user("a", "before") | {"accountType": None, "balance": balance}]}

    def account(balance: float) -> list[str]:
        return [json.dumps({"userId": "a", "balance": balance})]

    users, accounts = topic_of(world, "users"), topic_of(world, "accounts")
    produce(users, [json.dumps(user("a", "before"))], partition=0, timestamp=1)
    with world.orchestrated(MICROBATCH) as orchestrator:
        world.until(lambda: world.states() == {1: "live"})
        world.until_rows(1, final(None))
        produce(accounts, account(1.5), partition=1, timestamp=2)
        world.until_rows(1, final(1.5))
        assert orchestrator.live is not None
        assert orchestrator.live.slots() == 0
    produce(accounts, account(2.5), partition=0, timestamp=3)
    with world.orchestrated(MICROBATCH):
        world.until_rows(1, final(2.5))
        produce(accounts, account(3.5), partition=1, timestamp=4)
        world.until_rows(1, final(3.5))
        assert world.states() == {1: "live"}


def test_one_that_is_stopped_while_it_builds_promotes_nothing(world: World, produce: Produce) -> None:
    produce(topic_of(world, "users"), [json.dumps(user("a", "x"))], partition=0, timestamp=1)
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "hydrating"})
    assert world.states() == {1: "hydrating"}
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "retired", 2: "live"})


def test_records_lost_to_retention_build_a_new_generation(world: World, produce: Produce) -> None:
    users = topic_of(world, "users")
    produce(users, [json.dumps(user("a", "gone soon"))], partition=0, timestamp=1)
    with world.orchestrated():
        world.until(lambda: world.states() == {1: "live"})
    produce(users, [json.dumps(user("b", "never read"))], partition=0, timestamp=2)
    admin = make_admin(world.kafka, {})
    for future in admin.delete_records([TopicPartition(users, 0, 2)]).values():
        future.result(PATIENCE)
    produce(users, [json.dumps(user("c", "still there"))], partition=0, timestamp=3)
    with world.orchestrated():
        world.until(lambda: world.states().get(2) == "live")
        world.until_rows(2, {"users_ui": [user("c", "still there")]})


def test_twins_write_the_same_rows_and_either_is_enough(
    spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path
) -> None:
    world = World(spark, broker, {name: create_topic(name, 2, KEPT) for name in ("users", "accounts")}, tmp_path)
    pair = Pair(world.kafka, world.prefix, topic_of(world, "users"), topic_of(world, "accounts"))
    pair.send(100)
    with world.orchestrated("pipeline.twin=true", "pipeline.checkpoint_interval=6 seconds") as orchestrator:
        world.until(lambda: orchestrator.live is not None and all(keeper.running for keeper in orchestrator.live.crew.keepers))
        assert orchestrator.live is not None
        assert [keeper.name for keeper in orchestrator.live.crew.keepers] == ["q0", "q0-twin"]
        pair.send(100)
        pair.expect_truth(1)
        # First out of the crew: the orchestrator, in its thread, would take it for one that failed.
        orchestrator.live.crew.keepers.pop(0).stop()
        pair.send(100)
        pair.expect_truth(1)


def test_topics_of_twelve_partitions_have_their_slots_and_are_read_from_their_ends_if_that_is_asked_for(
    spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path, produce: Produce
) -> None:
    world = World(spark, broker, {name: create_topic(name, 12, KEPT) for name in ("users", "accounts")}, tmp_path, tables=TWO_TABLES)
    users = topic_of(world, "users")
    produce(users, [json.dumps(user("old", "x"))], partition=0, timestamp=1)
    with world.orchestrated("pipeline.starting_offsets=latest") as orchestrator:
        world.until(lambda: world.states() == {1: "live"})
        assert orchestrator.live is not None
        states = orchestrator.live.state_partitions
        assert orchestrator.live.slots() == 12 + 12 + max(1, states // 2) + states
        for partition in range(12):
            produce(users, [json.dumps(user(f"u{partition:02}", "x"))], partition=partition, timestamp=partition + 1)
        world.until_rows(1, {"users_ui": [user(f"u{partition:02}", "x") for partition in range(12)]})


def test_two_generations_of_twelve_partitions_run_at_once(
    spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path, produce: Produce
) -> None:
    """As during a swap: each has its slots, and neither waits for the other."""
    topics = {name: create_topic(name, 12, KEPT) for name in ("users", "accounts")}
    one, other = (World(spark, broker, topics, tmp_path / name, prefix=name, tables=TWO_TABLES) for name in ("one", "other"))
    users = topic_of(one, "users")
    with one.orchestrated(), other.orchestrated():
        one.until(lambda: one.states() == other.states() == {1: "live"})
        for partition in range(12):
            produce(users, [json.dumps(user(f"u{partition:02}", "x"))], partition=partition, timestamp=partition + 1)
        for world in (one, other):
            world.until_rows(1, {"users_ui": [user(f"u{partition:02}", "x") for partition in range(12)]})


def test_a_bounded_table_of_every_type_loses_its_old_rows_in_the_changelog_too(world: World, produce: Produce) -> None:
    # Of one key, so that they are written in the order in which they came.
    users, rows = topic_of(world, "users"), [user("u", f"n{number}") | MORE_CELLS[number % 2] for number in range(20)]
    produce(users, [json.dumps(row | {"place": {"at": {"city": row["city"]}}}) for row in rows[:10]], partition=0, timestamp=1)
    with world.orchestrated("tables.users_ui.max_rows=12", *MORE_COLUMNS):
        world.until(lambda: world.states() == {1: "live"})
        produce(users, [json.dumps(row | {"place": {"at": {"city": row["city"]}}}) for row in rows[10:]], partition=0, timestamp=2)
        topic = changelog_topic(world.prefix, "users_ui", 1)
        world.until(lambda: Topics(world.kafka).begin_offsets(topic) == {0: 8})
        # Two of them by the fill, the others in real time.
        world.until_rows(1, {"users_ui": rows[8:]})


def test_the_progress_of_a_fill_is_told_and_stands_in_the_status(world: World, produce: Produce, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    count = 60_000
    produce(topic_of(world, "users"), [json.dumps(user(f"u{number % 1000}", "x")) for number in range(count)], partition=0, timestamp=1)
    seen: list[Progress] = []

    def told() -> bool:
        status = world.status(1)
        if status is not None and status.progress is not None:
            seen.append(status.progress)
        return status is not None and status.state == "live"

    with world.orchestrated():
        world.until(told)
    assert seen
    assert {progress.of for progress in seen} == {count}
    assert all(0 <= progress.done <= count for progress in seen)
    assert any(re.search(r"generation 1: filling [█░]{20} +\d+% [\d,]+ of 60,000 records, [\d,]+ a second", line) for line in caplog.messages)


@pytest.mark.parametrize("keyed", [True, False])
def test_the_records_of_a_fill_are_counted_with_and_without_a_key(spark: SparkSession, world: World, produce: Produce, keyed: bool) -> None:
    count, group = 500, f"counted {keyed}"
    users = topic_of(world, "users")
    produce(users, ["{}"] * count, partition=0)
    consumer = java_settings(world.kafka, "consumer").spark_options()
    rows = backlog(spark, users, consumer, {0: 0, 1: 0}, {0: count, 1: 0})
    with FillProgress(spark, count, lambda _: None).of_query(group, count, keyed):
        (rows.repartition("offset") if keyed else rows).write.format("noop").mode("overwrite").save()
    counted = StageCount(keyed)
    world.until(lambda: counted.records(spark, group) == count)


def test_a_generation_without_its_slots_is_refused_with_the_count(spark: SparkSession, world: World) -> None:
    total = spark.sparkContext.defaultParallelism
    with pytest.raises(SparkUnusable, match=rf"generation 7 needs {total} task slots at once, and {total - 5} of {total} are free"):
        reserve(spark, total, 5, "generation 7")
    reserve(spark, total - 5, 5, "generation 7")


def test_slots_are_those_of_every_stage(world: World) -> None:
    (plan,) = plan_queries(world.configuration().catalog)
    partitions = {topic_of(world, "users"): 3, topic_of(world, "accounts"): 5}
    assert slots_needed(plan, partitions, 4) == 3 + 5 + 2 + 4
