"""Hot keys and many keys: what a record costs, and what is kept of a key, is bounded by the history (T3, T4, T8)."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.catalog_check import build_catalog
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_consumer
from tablecast.pipeline.realtime import OBSERVED, OUT_OF_HISTORY
from tablecast.pipeline.rows import SEEDS
from tablecast.settings import DEFAULT_TABLES, PipelineSettings, Settings
from tests.pipeline.running import Bench, Draft, Running
from tests.pipeline.test_tables import START, TRIGGERS, Trigger, account, bench_of, user

HISTORY = 64
PATIENCE = 180.0

CreateTopic = Callable[..., str]


@pytest.fixture
def bench(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path) -> Bench:
    return bench_of(spark, broker, create_topic, tmp_path, PipelineSettings(), tables=DEFAULT_TABLES)


def hot_key(users: int, accounts_every: int) -> Iterator[Draft]:
    """One key, in the order of time: an account after every so many users."""
    for number in range(users):
        yield user("hot", f"n{number}", 2 * number)
        if number % accounts_every == accounts_every - 1:
            yield account("hot", float(number), 2 * number + 1)


def sent_in_order(stack: Running, drafts: list[Draft]) -> None:
    """Two topics are read side by side, so a record that must come later is sent when the earlier ones are through."""
    stack.send(drafts)
    stack.expect_truth(PATIENCE)


def out_of_history(query: StreamingQuery) -> int:
    """As counted in the batches that have ended."""
    return sum(int(progress.observedMetrics[OBSERVED][OUT_OF_HISTORY]) for progress in query.recentProgress if OBSERVED in progress.observedMetrics)


def values_of(bench: Bench, topic: str) -> list[dict[str, Any]]:
    """What stands on one of the topics of a bench."""
    name = bench.topics[topic]
    ends = Topics(bench.kafka).end_offsets(name)
    consumer = make_consumer(bench.kafka, {"group.id": "values", "enable.auto.commit": False})
    consumer.assign([TopicPartition(name, partition, 0) for partition in ends])
    try:
        return [json.loads(message.value() or b"null") for message in consumer.consume(sum(ends.values()), PATIENCE)]
    finally:
        consumer.close()


@pytest.mark.parametrize("rows", [10, 1_000, 50_000])
def test_a_hot_key_costs_a_straight_line_and_its_state_stays_bounded(bench: Bench, rows: int) -> None:
    """Most of it as a backlog, the end in real time. Rows that fell out of the history keep what they showed."""
    stack = bench.running([])
    stack.history = HISTORY
    try:
        stack.send(hot_key(rows, 100))
        spans = bench.spans()
        pushed_out = bench.filled(spans)
        stack.expect_truth(PATIENCE)
        users, accounts = rows, rows // 100
        assert pushed_out == max(0, users - HISTORY) + max(0, accounts - HISTORY)
        (seed,) = values_of(bench, f"{SEEDS}0")
        assert {name: len(kept) for name, kept in seed.items() if name.startswith("newest")} == {
            f"newest{index}": min(HISTORY, count) for index, count in enumerate((accounts, users)) if count
        }
        written = dict(stack.changelogs.emitted)
        assert written["final_ui"] == users, "a fill writes each row once"
        stack.queries += bench.started(spans)
        bench.await_seeds()
        after = 2 * rows
        sent_in_order(stack, [user("hot", f"later {number}", after + number) for number in range(20)])
        sent_in_order(stack, [account("hot", -1.0, after + 100)])
        emitted = {table: count - written[table] for table, count in stack.changelogs.emitted.items()}
        kept = min(HISTORY, users + 20)
        assert emitted["users_ui"] == 20
        assert emitted["accounts_ui"] == emitted["account"] == emitted["user_account"] == 1
        assert emitted["final_ui"] == 20 + kept, "an account changes the rows that the history holds, and no other"
    finally:
        stack.close()


def test_a_key_of_large_rows_is_filled_although_its_history_fits_into_no_record(bench: Bench) -> None:
    """Thirty rows of 400 kB: the newest of them can still be changed, the others keep what they show and are counted."""
    stack = bench.running([])
    try:
        stack.send([user("large", f"{number:02}" + '"' * 200_000, number) for number in range(30)])
        spans = bench.spans()
        pushed_out = bench.filled(spans)
        (seed,) = values_of(bench, f"{SEEDS}0")
        assert 0 < len(seed["newest1"]) == 30 - pushed_out < 30
        stack.expect_truth(PATIENCE)
        stack.queries += bench.started(spans)
        bench.await_seeds()
        stack.send([account("large", 1.0, 100)])
        while len(changed := [row for _, row in stack.changelogs.content("final_ui") if row["balance"] is not None]) < 30 - pushed_out:
            assert stack.queries[0].isActive
            stack.changelogs.poll(1.0)
        assert len(changed) == 30 - pushed_out
    finally:
        stack.close()


def test_a_record_emits_only_the_rows_that_it_changes(bench: Bench) -> None:
    """Users and accounts of two keys: one row for each append, last-by-key and as-of table, and one for each row of the joined one."""
    stack = bench.running(bench.started(bench.spans()))
    try:
        sent_in_order(stack, [user("a", "1", 0), user("a", "2", 1), user("a", "3", 2), user("b", "1", 3)])
        assert stack.changelogs.emitted == emitted(users_ui=4, final_ui=4)
        sent_in_order(stack, [account("a", 1.0, 10)])
        assert stack.changelogs.emitted == emitted(users_ui=4, final_ui=4 + 3, account=1, accounts_ui=1, user_account=1)
        sent_in_order(stack, [account("a", 0.5, 5)])
        # Older than the last one: it changes neither the last account of its key nor the joined rows.
        assert stack.changelogs.emitted == emitted(users_ui=4, final_ui=7, account=2, accounts_ui=2, user_account=2)
        sent_in_order(stack, [user("a", "late", 4)])
        # It corrects both accounts, which are younger.
        assert stack.changelogs.emitted == emitted(users_ui=5, final_ui=8, account=2, accounts_ui=2, user_account=4)
    finally:
        stack.close()


def emitted(**counts: int) -> dict[str, int]:
    return dict.fromkeys(("users_ui", "account", "accounts_ui", "final_ui", "user_account", "dead_letters"), 0) | counts


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_what_is_pushed_out_of_the_history_is_counted(
    spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path, trigger: Trigger
) -> None:
    settings = PipelineSettings(history=4, checkpoint_interval="5 seconds", trigger=trigger)
    bench = bench_of(spark, broker, create_topic, tmp_path, settings, tables=DEFAULT_TABLES)
    stack = bench.running(bench.started(bench.spans()))
    stack.history = 4
    try:
        sent_in_order(stack, [user("a", f"n{number}", number) for number in range(10)])
        deadline = time.monotonic() + PATIENCE
        while (counted := out_of_history(stack.queries[0])) < 6:
            assert time.monotonic() < deadline, counted
            assert stack.queries[0].awaitTermination(1) is False
        assert counted == 6
    finally:
        stack.close()


def test_half_a_million_keys(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path: Path) -> None:
    """All of them filled, seeded and known to the query that goes on."""
    keys = 500_000
    tables = {"accounts_ui": DEFAULT_TABLES["accounts_ui"], "final_ui": {**DEFAULT_TABLES["final_ui"], "keep": "last"}}
    bench = bench_of(spark, broker, create_topic, tmp_path, PipelineSettings(), tables=tables)
    stack = bench.running([])
    try:
        stack.send(Draft("users", {"userId": f"k{number:06}", "name": "n"}, START + number, number % 2) for number in range(keys))
        spans = bench.spans()
        bench.filled(spans)
        stack.queries += bench.started(spans)
        bench.await_seeds()
        stack.send([account("k000000", 1.0, keys), account("k123456", 2.0, keys), account("k499999", 3.0, keys)])
        stack.expect_truth(PATIENCE)
    finally:
        stack.close()


def test_the_default_catalogue_is_what_is_tested_here() -> None:
    catalog, flaws = build_catalog(Settings())
    assert flaws == []
    assert emitted().keys() == catalog.columns().keys()
