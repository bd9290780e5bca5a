"""Turns the sources and tables of the settings into a Catalog, or into every problem that they have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tablecast.catalog import DEAD_LETTERS, NAME, Bound, Catalog, Column, Field, JoinColumn, JoinTable, Source, SourceTable, Table
from tablecast.settings import FieldSettings, Settings, SourceSettings, TableSettings, seconds

RESERVED = (DEAD_LETTERS, "orchestrator_status", "control_raw")
NAME_RULE = "a name of letters, digits and _ that does not begin with a digit"


@dataclass(frozen=True)
class Flaw:
    """A problem of the catalogue, before anybody knows where the value came from."""

    key: tuple[str, ...]
    got: str
    expected: str


def build_catalog(settings: Settings) -> tuple[Catalog, list[Flaw]]:
    """The catalogue as far as it can be built, and all that is wrong with it. Use it only if the list is empty."""
    flaws: list[Flaw] = []
    sources = {name: _source(name, given, flaws) for name, given in settings.sources.items()}
    tables: dict[str, Table] = {}
    for name, given in settings.tables.items():
        table = _TableCheck(name, given, sources, flaws).table()
        if table is not None:
            tables[name] = table
    flaws += _alias_flaws(settings.aliases, settings.tables)
    flaws += [
        Flaw(("control", "joins"), repr(name), f"tables with a join: {_listed(_joins(settings.tables))}")
        for name in settings.control.joins
        if "joins" in settings.control.model_fields_set and name not in _joins(settings.tables)
    ]
    return Catalog(_with_keys(sources, tables.values()), tables, dict(settings.aliases)), flaws


def _joins(tables: Mapping[str, TableSettings]) -> list[str]:
    return [name for name, table in tables.items() if table.join in ("left", "inner")]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _source(name: str, given: SourceSettings, flaws: list[Flaw]) -> Source:
    if not NAME.fullmatch(name):
        flaws.append(Flaw(("sources", name), repr(name), NAME_RULE))
    flaws.extend(Flaw(("sources", name, "columns", column), repr(column), NAME_RULE) for column in given.columns if not NAME.fullmatch(column))
    source = Source(name, given.topic, tuple(_field(column, spec) for column, spec in given.columns.items()))
    flaws.extend(_clashes(source))
    return source


def _clashes(source: Source) -> Iterator[Flaw]:
    """Columns that Spark could not tell apart: it does not look at the case of a name, and reads a place of a value as one type."""
    for index, field in enumerate(source.fields):
        for other in source.fields[:index]:
            name, key = other.column.name, ("sources", source.name, "columns", field.column.name)
            if field.column.name.lower() == name.lower():
                yield Flaw(key, repr(field.column.name), f"a name that differs from {name!r} by more than its case")
            elif (expected := _path_clash(field, other)) is not None:
                yield Flaw((*key, "path"), repr(".".join(field.path)), expected)


def _path_clash(field: Field, other: Field) -> str | None:
    """What the path of a field would have to be beside another one; None if it is that."""
    taken = f"{'.'.join(other.path)!r} of the column {other.column.name}"
    for step, other_step in zip(field.path, other.path, strict=False):
        if step != other_step:
            return f"a path that differs from {taken} by more than its case" if step.lower() == other_step.lower() else None
    if len(field.path) != len(other.path):
        return f"a path beside {taken}: what stands there is a value or an object, not both"
    return None if field.column.type == other.column.type else f"another path than {taken}, or its type, {other.column.type}"


def _field(name: str, given: FieldSettings) -> Field:
    return Field(Column(name, given.type), tuple((given.path or name).split(".")), given.required)


def _with_keys(sources: Mapping[str, Source], tables: Iterable[Table]) -> dict[str, Source]:
    keys: dict[str, set[str]] = {name: set() for name in sources}
    for table in tables:
        if isinstance(table, JoinTable):
            keys[table.left].add(table.on)
            keys[table.right].add(table.on)
        elif table.key is not None:
            keys[table.source].add(table.key)
    return {name: replace(source, keys=tuple(sorted(keys[name]))) for name, source in sources.items()}


def _alias_flaws(aliases: Mapping[str, str], tables: Mapping[str, TableSettings]) -> list[Flaw]:
    flaws = []
    for alias, target in aliases.items():
        key = ("aliases", alias)
        if not NAME.fullmatch(alias):
            flaws.append(Flaw(key, repr(alias), NAME_RULE))
        if alias in tables or alias in RESERVED:
            flaws.append(Flaw(key, repr(alias), "a name that no table has"))
        elif target in aliases and target not in tables:
            flaws.append(Flaw(key, repr(target), "a table: an alias of an alias may run in a circle"))
        elif target not in tables and target not in RESERVED:
            flaws.append(Flaw(key, repr(target), f"one of the tables {_listed(tables)}"))
    return flaws


class _TableCheck:
    """Checks one table and builds it. Each problem is noted once, and the others are still looked for."""

    def __init__(self, name: str, given: TableSettings, sources: Mapping[str, Source], flaws: list[Flaw]) -> None:
        self.name = name
        self.given = given
        self.sources = sources
        self.flaws = flaws

    def table(self) -> Table | None:
        before = len(self.flaws)
        self._check_name()
        if (self.given.source is None) == (self.given.join is None):
            self._flaw("", "both source and join" if self.given.source else "neither source nor join", "one of the two")
            return None
        table = self._source_table() if self.given.source is not None else self._join_table()
        return table if len(self.flaws) == before else None

    def _flaw(self, field: str, got: object, expected: str) -> None:
        key = ("tables", self.name, field) if field else ("tables", self.name)
        self.flaws.append(Flaw(key, str(got) if not field else repr(got), expected))

    def _check_name(self) -> None:
        if not NAME.fullmatch(self.name):
            self._flaw("", repr(self.name), NAME_RULE)
        if self.name in RESERVED:
            self._flaw("", repr(self.name), f"a name other than {_listed(RESERVED)}, which every generation has")

    def _foreign(self, *fields: str) -> None:
        """Settings that belong to the other kind of table."""
        for field in fields:
            if (value := getattr(self.given, field)) is not None:
                self._flaw(field, value, f"no such setting in a table with {'a join' if self.given.join else 'a source'}")

    def _known_source(self, field: str) -> Source | None:
        name = getattr(self.given, field)
        source = self.sources.get(name) if name is not None else None
        if source is None:
            self._flaw(field, name, f"one of the sources {_listed(self.sources)}")
        return source

    def _column(self, field: str, source: Source) -> Column | None:
        name = getattr(self.given, field)
        column = source.column(name) if name is not None else None
        if column is None:
            self._flaw(field, name, f"a column of the source {source.name}: {_listed(column.name for column in source.columns)}")
        return column

    def _bound(self, keyed: bool) -> Bound:
        if keyed:
            for field in ("max_rows", "max_age"):
                if (value := getattr(self.given, field)) is not None:
                    self._flaw(field, value, 'no bound where keep = "last": it has one row a key')
        return Bound(self.given.max_rows, seconds(self.given.max_age) if self.given.max_age else None)

    def _source_table(self) -> SourceTable | None:
        self._foreign("left", "right", "on")
        source = self._known_source("source")
        keyed = self.given.keep == "last"
        bound = self._bound(keyed)
        if source is None:
            return None
        if keyed:
            self._column("key", source)
        elif self.given.key is not None:
            self._flaw("key", self.given.key, 'no key where keep = "all"')
        return SourceTable(self.name, source.name, source.columns, self.given.key, bound)

    def _join_table(self) -> JoinTable | None:
        self._foreign("source", "key")
        join, keyed = self.given.join, self.given.keep == "last"
        if join == "asof" and keyed:
            self._flaw("keep", "last", '"all" in an as-of join: it has one row for each left row')
        bound = self._bound(keyed)
        left, right = self._known_source("left"), self._known_source("right")
        if left is None or right is None or join is None:
            return None
        if left is right:
            self._flaw("right", right.name, f"a source other than the left one, {left.name}")
        on_left, on_right = self._column("on", left), self._column("on", right)
        if on_left is None or on_right is None:
            return None
        if on_left.type != on_right.type:
            self._flaw("on", f"{left.name}.{on_left.name} {on_left.type} and {right.name}.{on_right.name} {on_right.type}", "one type on both sides")
        joined = _joined(left, right, on_left.name)
        for column in _named_twice(joined):
            self._flaw("right", f"{right.name}.{column.origin}, called {column.column.name} here", "a name that no other column of the table has")
        return JoinTable(self.name, join, left.name, right.name, on_left.name, joined, keyed, bound)


def _joined(left: Source, right: Source, on: str) -> tuple[JoinColumn, ...]:
    """The left columns, then the right ones without the key; a right column whose name is taken gets its source's name in front."""
    taken = {column.name for column in left.columns}
    columns = [JoinColumn(column, "left", column.name) for column in left.columns]
    for column in right.columns:
        if column.name != on:
            name = f"{right.name}_{column.name}" if column.name in taken else column.name
            columns.append(JoinColumn(Column(name, column.type), "right", column.name))
    return tuple(columns)


def _named_twice(joined: tuple[JoinColumn, ...]) -> list[JoinColumn]:
    """Right columns that were given their source's name in front, and now have the name of another column."""
    names = [column.column.name for column in joined]
    return [column for column in joined if column.side == "right" and column.column.name != column.origin and names.count(column.column.name) > 1]
