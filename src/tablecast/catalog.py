"""Sources and tables as the rest of the code sees them: checked, typed, frozen."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["string", "int64", "double", "boolean", "timestamp"]
Join = Literal["left", "inner", "asof"]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DEAD_LETTERS = "dead_letters"


@dataclass(frozen=True)
class Column:
    """A column of a table, as viewers see it."""

    name: str
    type: ColumnType


@dataclass(frozen=True)
class Field:
    """A column of a source: where it stands in the JSON value, and whether a record without it is a dead letter."""

    column: Column
    path: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class Source:
    name: str
    topic: str
    fields: tuple[Field, ...]
    keys: tuple[str, ...] = ()
    """Columns that tables are keyed or joined by: null, empty or blank there is a dead letter."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(field.column for field in self.fields)

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True)
class Bound:
    """What an append table keeps: the newest `rows`, and rows younger than `seconds`. None means all."""

    rows: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class SourceTable:
    """The rows of one source: every one, or with `key` the last of each key."""

    name: str
    source: str
    columns: tuple[Column, ...]
    key: str | None = None
    bound: Bound = Bound()


@dataclass(frozen=True)
class JoinColumn:
    """A column of a joined table: which side it comes from and what it is called there."""

    column: Column
    side: Literal["left", "right"]
    origin: str


@dataclass(frozen=True)
class JoinTable:
    """The rows of `left`, each with what `right` knows of its key: the last row, or for `asof` the newest not after it."""

    name: str
    join: Join
    left: str
    right: str
    on: str
    joined: tuple[JoinColumn, ...]
    keep_last: bool = False
    bound: Bound = Bound()

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(joined.column for joined in self.joined)


Table = SourceTable | JoinTable

DEAD_LETTER_COLUMNS = (
    Column("topic", "string"),
    Column("partition", "int64"),
    Column("offset", "int64"),
    Column("time", "timestamp"),
    Column("reason", "string"),
    Column("raw", "string"),
)


@dataclass(frozen=True)
class Catalog:
    """Everything that a generation is built from. Two equal catalogues make equal tables of equal topics."""

    sources: Mapping[str, Source]
    tables: Mapping[str, Table]
    aliases: Mapping[str, str]

    def columns(self) -> dict[str, tuple[Column, ...]]:
        """The columns of every table that a generation has, dead letters included."""
        return {name: table.columns for name, table in self.tables.items()} | {DEAD_LETTERS: DEAD_LETTER_COLUMNS}
