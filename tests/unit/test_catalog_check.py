"""What is refused in a catalogue, each with its place."""

import pytest

from tablecast.catalog import JoinTable
from tablecast.catalog_check import build_catalog
from tablecast.settings import Settings

SOURCES = {
    "users": {"topic": "users", "columns": {"userId": "string", "name": "string", "age": "int64"}},
    "accounts": {"topic": "accounts", "columns": {"userId": "string", "name": "string", "age": "string"}},
}
GOOD = {"source": "users"}


def flaws(tables: dict[str, object], aliases: dict[str, str] | None = None, sources: dict[str, object] | None = None) -> dict[str, str]:
    settings = Settings.model_validate({"sources": sources or SOURCES, "tables": tables, "aliases": aliases or {}})
    return {".".join(flaw.key): f"{flaw.got}; {flaw.expected}" for flaw in build_catalog(settings)[1]}


@pytest.mark.parametrize(
    ("table", "place", "expected"),
    [
        ({}, "", "one of the two"),
        ({"source": "users", "join": "left"}, "", "one of the two"),
        ({"source": "userz"}, ".source", "one of the sources accounts, users"),
        ({"source": "users", "keep": "last"}, ".key", "a column of the source users: age, name, userId"),
        ({"source": "users", "keep": "last", "key": "id"}, ".key", "a column of the source users"),
        ({"source": "users", "key": "userId"}, ".key", "no key"),
        ({"source": "users", "keep": "last", "key": "userId", "max_rows": 5}, ".max_rows", "no bound"),
        ({"source": "users", "on": "userId"}, ".on", "no such setting in a table with a source"),
        ({"join": "left", "left": "users", "right": "nobody", "on": "userId"}, ".right", "one of the sources"),
        ({"join": "left", "left": "users", "right": "users", "on": "userId"}, ".right", "a source other than the left one"),
        ({"join": "left", "left": "users", "right": "accounts", "on": "id"}, ".on", "a column of the source"),
        ({"join": "left", "left": "users", "right": "accounts", "on": "age"}, ".on", "one type on both sides"),
        ({"join": "asof", "left": "users", "right": "accounts", "on": "userId", "keep": "last"}, ".keep", '"all" in an as-of join'),
        ({"join": "left", "left": "users", "right": "accounts", "on": "userId", "source": "users"}, "", "one of the two"),
    ],
)
def test_a_table_that_cannot_be_built_is_refused(table: dict[str, object], place: str, expected: str) -> None:
    assert expected in flaws({"t": table})[f"tables.t{place}"]


@pytest.mark.parametrize(
    ("columns", "place", "expected"),
    [
        (
            {"a": "string", "b": {"type": "string", "path": "a.b"}},
            "b.path",
            "'a.b'; a path beside 'a' of the column a: what stands there is a value or an object",
        ),
        ({"b": {"type": "string", "path": "a.b"}, "a": "string"}, "a.path", "'a'; a path beside 'a.b' of the column b"),
        ({"id": "string", "ID": "int64"}, "ID", "'ID'; a name that differs from 'id' by more than its case"),
        (
            {"x": {"type": "string", "path": "a.b"}, "y": {"type": "string", "path": "A.c"}},
            "y.path",
            "'A.c'; a path that differs from 'a.b' of the column x by more",
        ),
        (
            {"x": {"type": "string", "path": "a"}, "y": {"type": "int64", "path": "a"}},
            "y.path",
            "'a'; another path than 'a' of the column x, or its type, string",
        ),
    ],
)
def test_columns_that_spark_could_not_tell_apart_are_refused(columns: dict[str, object], place: str, expected: str) -> None:
    sources: dict[str, object] = {"s": {"topic": "t", "columns": columns}}
    assert expected in flaws({"t": {"source": "s"}}, sources=sources)[f"sources.s.columns.{place}"]


def test_columns_may_share_a_struct_or_a_value() -> None:
    columns = {"x": {"type": "string", "path": "a.b"}, "y": {"type": "int64", "path": "a.c"}, "z": {"type": "string", "path": "a.b"}}
    assert flaws({"t": {"source": "s"}}, sources={"s": {"topic": "t", "columns": columns}}) == {}


@pytest.mark.parametrize("side", ["users", "accounts"])
def test_a_right_column_whose_new_name_is_taken_too_is_refused(side: str) -> None:
    sources: dict[str, dict[str, dict[str, str]]] = {
        name: {"topic": name, "columns": {"userId": "string", "name": "string"}}  # type: ignore[dict-item]
        for name in ("users", "accounts")
    }
    sources[side]["columns"]["accounts_name"] = "string"
    found = flaws({"t": {"join": "left", "left": "users", "right": "accounts", "on": "userId"}}, sources=dict(sources))
    assert found == {"tables.t.right": "'accounts.name, called accounts_name here'; a name that no other column of the table has"}


@pytest.mark.parametrize("name", ["1st", "a-b", "", "a b", "ä", "a\n"])
def test_names_are_plain(name: str) -> None:
    assert "a name of letters" in flaws({name: GOOD})[f"tables.{name}"]
    assert "a name of letters" in flaws({"t": GOOD}, {name: "t"})[f"aliases.{name}"]


@pytest.mark.parametrize("name", ["dead_letters", "orchestrator_status", "control_raw"])
def test_names_of_our_own_tables_are_taken(name: str) -> None:
    assert "which every generation has" in flaws({name: GOOD})[f"tables.{name}"]


def test_aliases_lead_to_tables_and_only_there() -> None:
    found = flaws({"t": GOOD}, {"a": "b", "b": "a", "t": "t", "c": "nowhere", "fine": "t", "dead": "dead_letters"})
    assert set(found) == {"aliases.a", "aliases.b", "aliases.t", "aliases.c"}
    assert "circle" in found["aliases.a"]


def test_all_flaws_are_found_at_once() -> None:
    assert len(flaws({"1": {}, "x": {"source": "no"}, "y": {"source": "users", "key": "a"}}, {"z": "no"})) == 4


def test_a_right_column_whose_name_is_taken_gets_its_sources_name() -> None:
    settings = Settings.model_validate(
        {"sources": SOURCES, "aliases": {}, "tables": {"t": {"join": "left", "left": "users", "right": "accounts", "on": "userId"}}}
    )
    table = build_catalog(settings)[0].tables["t"]
    assert isinstance(table, JoinTable)
    assert [column.name for column in table.columns] == ["userId", "name", "age", "accounts_name", "accounts_age"]
