"""Which queries a catalogue needs."""

from typing import Any

from tablecast.catalog_check import build_catalog
from tablecast.pipeline.plan import QueryPlan, plan_queries
from tablecast.settings import DEFAULT_TABLES, Settings

SOURCES = {name: {"topic": name, "columns": {"id": "string", "other": "string", "value": "double"}} for name in ("a", "b", "c", "d")}


def queries(tables: dict[str, Any], sources: dict[str, Any] | None = None) -> list[QueryPlan]:
    catalog, flaws = build_catalog(Settings.model_validate({"sources": sources or SOURCES, "tables": tables, "aliases": {}}))
    assert flaws == []
    return plan_queries(catalog)


def shape(plan: QueryPlan) -> tuple[dict[str, str | None], set[str]]:
    return {given.source.name: given.key for given in plan.inputs}, {table.name for table in plan.tables}


def join(left: str, right: str, on: str, kind: str = "left") -> dict[str, str]:
    return {"join": kind, "left": left, "right": right, "on": on}


def test_the_default_catalogue_is_one_query() -> None:
    (plan,) = plan_queries(build_catalog(Settings())[0])
    assert shape(plan) == ({"users": "userId", "accounts": "userId"}, set(DEFAULT_TABLES))


def test_joins_on_different_keys_are_queries_of_their_own_and_plain_tables_go_with_the_first() -> None:
    plans = queries({"ab": join("a", "b", "id"), "ac": join("a", "c", "other"), "plain": {"source": "a"}})
    assert [shape(plan) for plan in plans] == [({"a": "id", "b": "id"}, {"ab", "plain"}), ({"a": "other", "c": "other"}, {"ac"})]


def test_joins_that_share_a_source_and_a_key_are_one_query() -> None:
    (plan,) = queries({"ab": join("a", "b", "id"), "cd": join("c", "d", "id"), "bc": join("b", "c", "id")})
    assert set(shape(plan)[0]) == {"a", "b", "c", "d"}


def test_a_source_without_a_key_is_a_query_of_its_own() -> None:
    plans = queries({"plain": {"source": "a"}, "last": {"source": "b", "keep": "last", "key": "id"}})
    assert [shape(plan) for plan in plans] == [({"b": "id"}, {"last"}), ({"a": None}, {"plain"})]


def test_dead_letters_of_a_source_are_reported_by_exactly_one_query() -> None:
    plans = queries({"ab": join("a", "b", "id"), "ac": join("a", "c", "other")})
    reporters = [given.source.name for plan in plans for given in plan.inputs if given.dead_letters]
    assert sorted(reporters) == ["a", "b", "c"]


def test_an_unused_source_is_not_read() -> None:
    plans = queries({"plain": {"source": "a"}})
    assert [given.source.name for plan in plans for given in plan.inputs] == ["a"]


def test_only_what_tables_need_of_a_key_is_kept() -> None:
    (plan,) = queries({"ab": {**join("a", "b", "id"), "keep": "last"}, "cb": join("c", "b", "id", "asof"), "d": {"source": "d"}}, None)[:1]
    depths = {given.source.name: plan.depth(index, 64) for index, given in enumerate(plan.inputs)}
    assert depths == {"a": 1, "b": 64, "c": 64}
    assert [given.source.name for index, given in enumerate(plan.inputs) if plan.needs_first(index)] == ["a"]
