"""Which queries a catalogue needs: one for each set of tables that share a join key, so that a record is parsed once for all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from tablecast.catalog import Catalog, JoinTable, Source, SourceTable, Table

Node = tuple[str, str | None]


@dataclass(frozen=True)
class Input:
    """A source as one query reads it: grouped by `key`, or by nothing."""

    source: Source
    key: str | None
    dead_letters: bool
    """Whether this query reports the dead letters of the source. Exactly one does."""


@dataclass(frozen=True)
class QueryPlan:
    """One streaming query: what it reads and the tables whose rows it writes."""

    inputs: tuple[Input, ...]
    tables: tuple[Table, ...]

    @property
    def keyed(self) -> bool:
        """Whether anything is kept of what it reads."""
        return any(given.key is not None for given in self.inputs)

    def index(self, source: str) -> int:
        return next(index for index, given in enumerate(self.inputs) if given.source.name == source)

    def depth(self, index: int, history: int) -> int:
        """How many of the newest rows of a key the tables of this query need of an input."""
        return max((depth for table in self.tables for depth in _depths(table, self.inputs[index].source.name, history)), default=0)

    def histories(self, history: int) -> dict[int, int]:
        """The inputs of which older records than the newest can still be changed, or change rows, and how many: a further one pushes one out."""
        depths = {index: self.depth(index, history) for index in range(len(self.inputs))}
        return {index: depth for index, depth in depths.items() if depth > 1}

    def tie_ranks(self) -> tuple[int, ...]:
        """Ranks by which records of one timestamp are sorted: as far as it can be, the right side of an as-of join before the left."""
        sides = {given.source.name: set[str]() for given in self.inputs}
        for table in self.tables:
            if isinstance(table, JoinTable) and table.join == "asof":
                sides[table.left].add(table.right)
        try:
            names = list(TopologicalSorter(sides).static_order())
        except CycleError:
            names = list(sides)
        return tuple(names.index(given.source.name) for given in self.inputs)

    def needs_first(self, index: int) -> bool:
        """Whether a table stands a row where its key was first seen in this input."""
        name = self.inputs[index].source.name
        return any((_keyed_by(table) or (None, None))[0] == name for table in self.tables)


def plan_queries(catalog: Catalog) -> list[QueryPlan]:
    """Deterministic: the same catalogue gives the same queries in the same order."""
    groups = _groups(catalog)
    homes = {name: _home(name, groups) for name in _used_sources(catalog)}
    for name, group in homes.items():
        if group not in groups:
            groups.append(group)
            homes[name] = group
    return [_query(catalog, group, homes) for group in groups]


def _query(catalog: Catalog, group: tuple[Node, ...], homes: dict[str, tuple[Node, ...]]) -> QueryPlan:
    inputs = tuple(Input(catalog.sources[name], key, homes[name] == group) for name, key in group)
    tables = tuple(table for table in catalog.tables.values() if _belongs(table, group, homes))
    return QueryPlan(inputs, tables)


def _belongs(table: Table, group: tuple[Node, ...], homes: dict[str, tuple[Node, ...]]) -> bool:
    nodes = _nodes(table)
    return nodes[0] in group if nodes else isinstance(table, SourceTable) and homes[table.source] == group


def _nodes(table: Table) -> list[Node]:
    if isinstance(table, JoinTable):
        return [(table.left, table.on), (table.right, table.on)]
    return [(table.source, table.key)] if table.key is not None else []


def _groups(catalog: Catalog) -> list[tuple[Node, ...]]:
    """Inputs that joins tie together, directly or through another."""
    groups: list[list[Node]] = []
    for table in catalog.tables.values():
        nodes = _nodes(table)
        touched = [group for group in groups if any(node in group for node in nodes)]
        merged = list(dict.fromkeys([*(node for group in touched for node in group), *nodes]))
        groups = [group for group in groups if group not in touched]
        if merged:
            groups.append(merged)
    return [tuple(group) for group in groups]


def _home(name: str, groups: list[tuple[Node, ...]]) -> tuple[Node, ...]:
    """The query that shows a source's plain rows and its dead letters."""
    return next((group for group in groups if any(node[0] == name for node in group)), ((name, None),))


def _used_sources(catalog: Catalog) -> list[str]:
    used = {name for table in catalog.tables.values() for name in ([table.source] if isinstance(table, SourceTable) else [table.left, table.right])}
    return [name for name in catalog.sources if name in used]


def _keyed_by(table: Table) -> Node | None:
    """The input whose first row of a key gives a keyed row its place."""
    if isinstance(table, JoinTable):
        return (table.left, table.on) if table.keep_last else None
    return (table.source, table.key) if table.key is not None else None


def _depths(table: Table, source: str, history: int) -> Iterator[int]:
    if isinstance(table, SourceTable):
        if table.key is not None and table.source == source:
            yield 1
        return
    if table.left == source:
        yield 1 if table.keep_last else history
    if table.right == source:
        yield history if table.join == "asof" else 1
