"""What a view of groups is asked for: the columns that make a group, and what is told of each group.

{"by": ["accountType"], "aggregates": [{"op": "count"}, {"op": "sum", "column": "balance"}]}
"""

from dataclasses import dataclass
from typing import Literal, get_args

from tablecast.catalog import Column, ColumnType
from tablecast.errors import BadView
from tablecast.tables.condition import shown

Op = Literal["count", "sum", "min", "max", "avg"]
_OPS: tuple[str, ...] = get_args(Op)
_MAX_BY = 3
_MAX_AGGREGATES = 20
_HINT = (
    f"A group is an object with by, a list of 1 to {_MAX_BY} columns, and aggregates, a list of objects with an op of {', '.join(_OPS)} "
    "and a column, which only count may lack."
)


@dataclass(frozen=True)
class Aggregate:
    """One figure of each group. Null cells do not count; `count` without a column counts rows."""

    op: Op
    column: str | None = None

    @property
    def name(self) -> str:
        return self.op if self.column is None else f"{self.op}_{self.column}"

    def result(self, type: ColumnType | None) -> Column:
        """The column of the view, where the aggregated one is of this type. Raises BadView for a sum of what is no number."""
        if self.op == "count":
            return Column(self.name, "int64")
        assert type is not None
        if self.op in ("sum", "avg") and type not in ("int64", "double"):
            raise BadView(f"the column {self.column!r} is {type} and has no {self.op}", "Numbers have one: int64 and double.")
        return Column(self.name, "double" if self.op == "avg" else type)


@dataclass(frozen=True)
class Grouping:
    by: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        names = [*self.by, *(aggregate.name for aggregate in self.aggregates)]
        if len(set(names)) < len(names):
            raise BadView(f"two columns of the group are called {next(name for name in names if names.count(name) > 1)[:100]!r}", _HINT)

    def used(self) -> list[str]:
        """The columns of the table that it needs, those of the group first."""
        return [*self.by, *(aggregate.column for aggregate in self.aggregates if aggregate.column is not None)]


def read_grouping(raw: object) -> Grouping:
    """What this JSON value says. Raises BadView."""
    if not isinstance(raw, dict):
        raise BadView(f"{shown(raw)} is not a group", _HINT)
    by, aggregates = raw.get("by"), raw.get("aggregates", [])
    if not isinstance(by, list) or not 1 <= len(by) <= _MAX_BY or not all(isinstance(name, str) for name in by):
        raise BadView(f"{shown(by)} is no list of columns to group by", _HINT)
    if not isinstance(aggregates, list) or len(aggregates) > _MAX_AGGREGATES:
        raise BadView(f"{shown(aggregates)} is no list of at most {_MAX_AGGREGATES} aggregates", _HINT)
    return Grouping(tuple(by), tuple(_aggregate(part) for part in aggregates))


def _aggregate(raw: object) -> Aggregate:
    if not isinstance(raw, dict) or raw.get("op") not in _OPS:
        raise BadView(f"{shown(raw)} is not an aggregate", _HINT)
    column = raw.get("column")
    if not (isinstance(column, str) or (column is None and raw["op"] == "count")):
        raise BadView(f"the aggregate {raw['op']} has no column", _HINT)
    return Aggregate(raw["op"], column)
