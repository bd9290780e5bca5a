"""The truth: what every table must hold, computed in plain Python from the records as they were sent."""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tablecast.catalog import Catalog, JoinTable, Source, SourceTable

Order = tuple[int, int, int]


@dataclass(frozen=True)
class Sent:
    """A record that is in Kafka: where it stands, and the value that was meant; None where the value is a bad one."""

    source: str
    ts: int
    partition: int
    offset: int
    value: dict[str, Any] | None
    reason: str | None = None

    @property
    def order(self) -> Order:
        return (self.ts, self.partition, self.offset)

    @property
    def row_id(self) -> str:
        return f"{self.partition}-{self.offset}"


Content = list[tuple[str, dict[str, Any]]]
"""Row ids with their rows, in the order of the table."""


def truth(catalog: Catalog, records: Iterable[Sent], history: int | None = None) -> dict[str, Content]:
    """The content of each table. Without a `history`, no key may have more records than it holds.

    With one, and with records that come in their order, no two at one time: a left record that so many newer ones push out keeps the right record
    that it had. truth_in_order() has no such limits, but takes the square of the records.
    """
    good: dict[str, list[Sent]] = defaultdict(list)
    bad: list[Sent] = []
    for record in records:
        (good[record.source] if record.reason is None else bad).append(record)
    tables: dict[str, Content] = {}
    for table in catalog.tables.values():
        if isinstance(table, JoinTable):
            tables[table.name] = _joined(catalog, table, good, history)
        else:
            tables[table.name] = _of_source(catalog.sources[table.source], table, good[table.source])
    letters = [(record.order, f"{record.source}-{record.row_id}", {"reason": record.reason}) for record in bad]
    # Records of two topics may have the same order; then their ids decide, as in every table.
    tables["dead_letters"] = [(id, cells) for _, id, cells in sorted(letters, key=lambda letter: letter[:2])]
    return tables


def truth_in_order(catalog: Catalog, records: Iterable[Sent], history: int) -> dict[str, Content]:
    """The content of each table when records are processed in their order: a row that newer left ones pushed out of the history keeps its value."""
    shown: dict[str, Content] = {}
    past: list[Sent] = []
    for record in sorted(records, key=lambda record: record.order):
        past.append(record)
        now = truth(catalog, past)
        for table in catalog.tables.values():
            if isinstance(table, JoinTable) and not table.keep_last:
                lefts = _by_key([each for each in past if each.source == table.left and each.reason is None], table.on)
                within = {left.row_id for group in lefts.values() for left in group[-history:]}
                kept = dict(shown.get(table.name, []))
                now[table.name] = [
                    (row_id, cells if row_id in within else kept[row_id]) for row_id, cells in now[table.name] if row_id in within or row_id in kept
                ]
        shown = now
    return shown


def joined_cells(catalog: Catalog, table: JoinTable, left: Sent, right: Sent | None) -> dict[str, Any]:
    """A row of a joined table."""
    sides = {"left": cells_of(catalog.sources[table.left], left), "right": cells_of(catalog.sources[table.right], right)}
    return {joined.column.name: sides[joined.side][joined.origin] for joined in table.joined}


def cells_of(source: Source, record: Sent | None) -> dict[str, Any]:
    """A row of a plain table, or one side of a joined one."""
    return {column.name: _cell(column.type, record.value.get(column.name) if record and record.value else None) for column in source.columns}


def _cell(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "int64":
        return str(value)
    if kind == "double":
        number = float(value)
        return number if math.isfinite(number) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(number), "NaN")
    return value


def _by_key(records: list[Sent], key: str) -> dict[Any, list[Sent]]:
    groups: dict[Any, list[Sent]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.order):
        assert record.value is not None
        groups[record.value[key]].append(record)
    return groups


def _of_source(source: Source, table: SourceTable, records: list[Sent]) -> Content:
    if table.key is None:
        return [(record.row_id, cells_of(source, record)) for record in sorted(records, key=lambda record: record.order)]
    groups = sorted(_by_key(records, table.key).items(), key=lambda group: group[1][0].order)
    return [(str(key), cells_of(source, group[-1])) for key, group in groups]


def _joined(catalog: Catalog, table: JoinTable, good: dict[str, list[Sent]], history: int | None) -> Content:
    lefts, rights = _by_key(good[table.left], table.on), _by_key(good[table.right], table.on)
    rows: list[tuple[Order, str, dict[str, Any]]] = []
    for key, group in lefts.items():
        others = rights.get(key, [])
        for place, left in [(len(group) - 1, group[-1])] if table.keep_last else enumerate(group):
            known = _known(table, left, others, group[place + history] if history and place + history < len(group) else None)
            if table.join == "inner" and not known:
                continue
            cells = joined_cells(catalog, table, left, known[-1] if known else None)
            rows.append((group[0].order, str(key), cells) if table.keep_last else (left.order, left.row_id, cells))
    return [(row_id, cells) for _, row_id, cells in sorted(rows, key=lambda row: row[0])]


def _known(table: JoinTable, left: Sent, rights: list[Sent], pushed_out_by: Sent | None) -> list[Sent]:
    """The right records that count for a left one, in their order. They are sorted, so that a hot key takes no time."""
    if table.join == "asof":
        return rights[: bisect_right(rights, left.ts, key=lambda right: right.ts)]
    if pushed_out_by is not None:
        return rights[: bisect_left(rights, pushed_out_by.order, key=lambda right: right.order)]
    return rights
