"""Every table equals the truth, whatever comes in whatever order."""

import itertools
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tablecast.catalog_check import build_catalog
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.changelog import record_bytes, seed_bytes
from tablecast.pipeline.plan import plan_queries
from tablecast.pipeline.rows import MARKS, SEEDS
from tablecast.settings import DEFAULT_TABLES, PipelineSettings, Settings
from tests.pipeline.model import truth, truth_in_order
from tests.pipeline.running import SEED_PARTITIONS, Bench, Draft, Running

START = 1_700_000_000_000
MORE_TABLES = {
    "inner_ui": {"join": "inner", "left": "users", "right": "accounts", "on": "userId"},
    "last_ui": {"join": "left", "left": "users", "right": "accounts", "on": "userId", "keep": "last"},
    "last_inner_ui": {"join": "inner", "left": "users", "right": "accounts", "on": "userId", "keep": "last"},
    "users_last": {"source": "users", "keep": "last", "key": "userId"},
}
PARTITIONS = 2

CreateTopic = Callable[..., str]
numbers = itertools.count()


Trigger = Literal["realtime", "microbatch"]
TRIGGERS: tuple[Trigger, ...] = ("realtime", "microbatch")


def bench_of(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, folder: Path, pipeline: PipelineSettings, **more: Any) -> Bench:
    """The default tables and every further kind, or what `more` says of the catalogue, over topics of several partitions."""
    catalog, flaws = build_catalog(Settings.model_validate({"tables": DEFAULT_TABLES | MORE_TABLES, "aliases": {}} | more))
    assert flaws == []
    large = {"max.message.bytes": str(record_bytes(PipelineSettings().row_bytes)), "cleanup.policy": "compact"}
    seeds = {"max.message.bytes": str(seed_bytes(PipelineSettings().row_bytes))}
    wanted: dict[str, tuple[Any, ...]] = {table: (table, 1, large) for table in catalog.columns()}
    wanted |= {f"of {name}": (name, PARTITIONS, {"retention.ms": "-1"}) for name in catalog.sources}
    for number in range(len(plan_queries(catalog))):
        wanted |= {f"{SEEDS}{number}": (f"seeds{number}", SEED_PARTITIONS, seeds), f"{MARKS}{number}": (f"marks{number}",)}
    with ThreadPoolExecutor(len(wanted)) as pool:
        topics = dict(zip(wanted, pool.map(lambda given: create_topic(*given), wanted.values()), strict=True))
    sources = {name: replace(source, topic=topics.pop(f"of {name}")) for name, source in catalog.sources.items()}
    return Bench(spark, broker.kafka, replace(catalog, sources=sources), topics, pipeline, folder)


@pytest.fixture(scope="module", params=TRIGGERS)
def running(
    spark: SparkSession,
    broker: EmbeddedBroker,
    module_topic: CreateTopic,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Running]:
    """One query of each trigger for all examples of this module: each uses keys of its own."""

    def create_topic(hint: str, *more: Any) -> str:
        return module_topic(f"{request.param}-{hint}", *more)

    bench = bench_of(spark, broker, create_topic, tmp_path_factory.mktemp("checkpoint"), PipelineSettings(trigger=request.param))
    stack = bench.running(bench.started(bench.spans()))
    yield stack
    stack.close()


def user(key: str, name: str, after: int = 0, partition: int = 0, **more: Any) -> Draft:
    return Draft("users", {"userId": key, "name": name, **more}, START + after, partition)


def account(key: str, balance: Any, after: int = 0, partition: int = 0, kind: str = "CHK") -> Draft:
    return Draft("accounts", {"userId": key, "accountType": kind, "balance": balance}, START + after, partition)


def bad(source: str, value: bytes, reason: str, after: int = 0, partition: int = 0) -> Draft:
    return Draft(source, value, START + after, partition, reason)


def key_of(name: str) -> str:
    return f"{name}-{next(numbers)}"


def test_an_account_after_its_user_and_a_newer_one(running: Running) -> None:
    key = key_of("ann")
    running.send([user(key, "Ann", 0, age=9007199254740993), account(key, 1.5, 10), account(key, 2.5, 20)])
    running.expect_truth()


def test_an_account_before_its_user_and_a_late_user_that_corrects_it(running: Running) -> None:
    key = key_of("bob")
    running.send([account(key, 1.0, 100)])
    running.expect_truth()
    running.send([user(key, "Bob, in time but late", 50), user(key, "Bob, after", 150)])
    running.expect_truth()


def test_equal_timestamps_count_as_known(running: Running) -> None:
    key = key_of("eve")
    running.send([account(key, 1.0, 7), user(key, "Eve", 7), account(key, 2.0, 7, partition=1)])
    running.expect_truth()


def test_a_late_first_record_moves_its_keyed_row(running: Running) -> None:
    first, second = key_of("one"), key_of("two")
    running.send([account(first, 1.0, 500), account(second, 2.0, 400), account(first, 0.5, 300, partition=1)])
    running.send([user(first, "one", 900), user(second, "two", 800), user(first, "one, earlier", 700, partition=1)])
    running.expect_truth()


def test_values_at_the_edge_arrive_as_they_were_sent(running: Running) -> None:
    key = key_of('quo"te\\ 🎈 {x}')
    running.send([user(key, 'a "b" \\ \n 🎈 </script>', 0, age=2**63 - 1, email=""), account(key, float("nan"), 1), account(key, float("-inf"), 2)])
    running.send([account(key, 1e-300, 3), account(key, 0.1, 4), account(key, -0.0, 5)])
    running.expect_truth()


def test_bad_records_become_dead_letters_and_stop_nobody(running: Running) -> None:
    key = key_of("ok")
    running.send(
        [
            bad("users", b"not json", "not_json"),
            bad("users", b'{"userId": "  "}', "null_key", partition=1),
            bad("accounts", b'{"userId": "a", "balance": "x"}', "wrong_type"),
            bad("accounts", b"", "not_json", partition=1),
            bad("users", b'{"userId": "a", "name": "' + b"x" * 1_100_000 + b'"}', "too_large"),
            bad("users", b"\xff\xfe\x00", "not_json"),
            user(key, "fine"),
            account(key, 1.0),
        ]
    )
    running.expect_truth()
    raws = [cells["raw"] for _, cells in running.changelogs.content("dead_letters")]
    assert max(len(raw.encode()) for raw in raws) <= 4096 + 2


KEYS = st.sampled_from(["a", "b", "c"])
AFTER = st.integers(0, 30)
PARTITION = st.integers(0, PARTITIONS - 1)
DRAFTS = st.one_of(
    st.builds(user, KEYS, st.text("xyz", max_size=2), AFTER, PARTITION),
    st.builds(account, KEYS, st.floats(allow_nan=False, width=32), AFTER, PARTITION),
    st.builds(lambda after, partition: bad("users", b"{", "not_json", after, partition), AFTER, PARTITION),
    st.builds(lambda after, partition: bad("accounts", b'{"userId": null}', "null_key", after, partition), AFTER, PARTITION),
)


# Examples share a query, and what went wrong once stays wrong: the first failure is the one to see, and nothing smaller could be found after it.
SHARED: dict[str, Any] = {
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
    "deadline": None,
}


def sent_as(example: Any, drafts: list[Draft]) -> list[Draft]:
    """The same drafts, with keys that no other example has."""
    name = f"{example.hex[:8]}{next(numbers)}"
    return [
        replace(draft, value={**draft.value, "userId": f"{draft.value['userId']}-{name}"}) if isinstance(draft.value, dict) else draft
        for draft in drafts
    ]


@pytest.mark.parametrize("running", ["realtime"], indirect=True)
@settings(max_examples=25, **SHARED)
@given(drafts=st.lists(DRAFTS, min_size=1, max_size=25), example=st.uuids())
def test_any_interleaving_ends_in_the_truth(running: Running, drafts: list[Draft], example: Any) -> None:
    """Repeated keys, late records, equal timestamps, the same key in two partitions, bad records in between."""
    running.send(sent_as(example, drafts))
    running.expect_truth()


@pytest.mark.parametrize("running", ["microbatch"], indirect=True)
@settings(max_examples=3, **SHARED)
@given(many=st.lists(st.lists(DRAFTS, min_size=1, max_size=25), min_size=10, max_size=20), example=st.uuids())
def test_any_interleaving_in_micro_batches_ends_in_the_truth(running: Running, many: list[list[Draft]], example: Any) -> None:
    """A batch takes a second, so many examples go at once; those of tests/unit/pipeline/test_memory.py go one by one."""
    for drafts in many:
        running.send(sent_as(example, drafts))
    running.expect_truth()


def fill_and_go_on(bench: Bench, before: list[Draft], after: list[Draft]) -> None:
    """The backlog by the batch plan, what comes later by the plan of the trigger from seeds: together the truth."""
    stack = bench.running([])
    try:
        stack.send(before)
        spans = bench.spans()
        bench.filled(spans)
        stack.expect_truth()
        stack.send(after)
        stack.queries += bench.started(spans)
        stack.expect_truth()
    finally:
        stack.close()


BEFORE = st.lists(DRAFTS, min_size=5, max_size=60)
LATER = st.lists(DRAFTS, min_size=1, max_size=20)
MakeBench = Callable[..., Bench]


@pytest.fixture
def make_bench(spark: SparkSession, broker: EmbeddedBroker, create_topic: CreateTopic, tmp_path_factory: pytest.TempPathFactory) -> MakeBench:
    def make(pipeline: PipelineSettings, **more: Any) -> Bench:
        return bench_of(spark, broker, create_topic, tmp_path_factory.mktemp("checkpoint"), pipeline, **more)

    return make


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=BEFORE, after=LATER)
def test_a_filled_generation_goes_on_in_real_time_on_exactly_the_next_record(make_bench: MakeBench, before: list[Draft], after: list[Draft]) -> None:
    fill_and_go_on(make_bench(PipelineSettings()), before, after)


@settings(max_examples=1, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=BEFORE, after=LATER)
def test_a_filled_generation_goes_on_in_micro_batches_on_exactly_the_next_record(
    make_bench: MakeBench, before: list[Draft], after: list[Draft]
) -> None:
    fill_and_go_on(make_bench(PipelineSettings(trigger="microbatch")), before, after)


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_source_without_a_key_and_columns_of_one_name_on_both_sides(make_bench: MakeBench, trigger: Trigger) -> None:
    """Two queries: one that joins, one that keeps nothing of what it reads."""
    both = {"columns": {"id": "int64", "value": "string"}}
    sources = {"a": {"topic": "a", **both}, "b": {"topic": "b", **both}, "c": {"topic": "c", "columns": {"value": "string"}}}
    ab, ba = {"left": "a", "right": "b", "on": "id"}, {"left": "b", "right": "a", "on": "id"}
    tables = {"ab": {"join": "left", **ab}, "ba": {"join": "asof", **ba}, "b_all": {"source": "b"}, "c_all": {"source": "c"}}
    bench = make_bench(PipelineSettings(trigger=trigger), sources=sources, tables=tables)
    fill_and_go_on(
        bench,
        [Draft("a", {"id": 1, "value": "a1"}, START), Draft("b", {"id": 1, "value": "b1"}, START + 2), Draft("c", {"value": "c1"}, START)],
        [
            Draft("a", {"id": 1, "value": "late"}, START + 1),
            Draft("b", {"id": 1, "value": "b2"}, START + 3),
            Draft("c", {"value": "c2"}, START, 1),
            bad("c", b"[", "not_json"),
            bad("b", b'{"id": null}', "null_key"),
        ],
    )


def test_sources_joined_by_two_keys(make_bench: MakeBench) -> None:
    """Two queries read the same topics, and only one of them tells of their dead letters."""
    sources = {name: {"topic": name, "columns": {"id": "int64", "other": "string"}} for name in ("a", "b")}
    tables = {f"by_{key}": {"join": "left", "left": "a", "right": "b", "on": key} for key in ("id", "other")}
    fill_and_go_on(
        make_bench(PipelineSettings(), sources=sources, tables=tables),
        [Draft("a", {"id": 1, "other": "x"}, START), Draft("b", {"id": 2, "other": "x"}, START + 1), bad("a", b"[", "not_json")],
        [Draft("b", {"id": 1, "other": "y"}, START + 2), bad("b", b"[", "not_json")],
    )


def test_a_catalogue_without_a_row_for_each_record(make_bench: MakeBench) -> None:
    """Such a one is filled in a single pass over sorted records. They come in no order of time, and many at the same one."""
    dice = random.Random(7)
    tables = {name: (DEFAULT_TABLES | MORE_TABLES)[name] for name in ("accounts_ui", "users_last", "last_ui", "last_inner_ui")}

    def drawn(number: int) -> Draft:
        key, after, partition = f"k{dice.randrange(12)}", dice.randrange(20), dice.randrange(PARTITIONS)
        return user(key, f"name {number}", after, partition) if dice.random() < 0.5 else account(key, float(number), after, partition)

    drafts = [drawn(number) for number in range(150)]
    bench = make_bench(PipelineSettings(), tables=tables)
    fill_and_go_on(bench, [*drafts[:120], bad("users", b"{", "not_json"), bad("users", b"]", "not_json", 3, 1)], drafts[120:])


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_rows_of_a_hot_key_that_fell_out_of_the_history_keep_their_last_value(make_bench: MakeBench, trigger: Trigger) -> None:
    """Real time gets the records one by one in order, a micro-batch gets all of them at once."""
    drafts = [user("hot", f"u{number}", number) if number % 5 else account("hot", float(number), number) for number in range(1, 17)]
    bench = make_bench(PipelineSettings(trigger=trigger, history=3))
    spans, stack = bench.spans(), bench.running([])
    try:
        for step in [[draft] for draft in drafts] if trigger == "realtime" else [drafts]:
            stack.send(step)
            stack.queries += [] if stack.queries else bench.started(spans)
            stack.expect(truth_in_order(bench.catalog, stack.sent, bench.settings.history))
        assert stack.changelogs.content("final_ui") != truth(bench.catalog, stack.sent)["final_ui"]
    finally:
        stack.close()
