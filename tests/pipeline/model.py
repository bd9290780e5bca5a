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
    """The content of each table. With a `history`: a left record that so many newer ones push out keeps the right record that it then had,
    where records come in their order. Without one, no key may have more records than the history holds."""
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
    tables["dead_letters"] = [
        (f"{record.source}-{record.row_id}", {"reason": record.reason}) for record in sorted(bad, key=lambda record: record.order)
    ]
    return tables


def _cells(source: Source, record: Sent | None) -> dict[str, Any]:
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
        return [(record.row_id, _cells(source, record)) for record in sorted(records, key=lambda record: record.order)]
    groups = sorted(_by_key(records, table.key).items(), key=lambda group: group[1][0].order)
    return [(str(key), _cells(source, group[-1])) for key, group in groups]


def _joined(catalog: Catalog, table: JoinTable, good: dict[str, list[Sent]], history: int | None) -> Content:
    lefts, rights = _by_key(good[table.left], table.on), _by_key(good[table.right], table.on)
    rows: list[tuple[Order, str, dict[str, Any]]] = []
    for key, group in lefts.items():
        others = rights.get(key, [])
        for place, left in [(len(group) - 1, group[-1])] if table.keep_last else enumerate(group):
            known = _known(table, left, others, group[place + history] if history and place + history < len(group) else None)
            if table.join == "inner" and not known:
                continue
            cells = _row(catalog, table, left, known[-1] if known else None)
            rows.append((group[0].order, str(key), cells) if table.keep_last else (left.order, left.row_id, cells))
    return [(row_id, cells) for _, row_id, cells in sorted(rows, key=lambda row: row[0])]


def _known(table: JoinTable, left: Sent, rights: list[Sent], pushed_out_by: Sent | None) -> list[Sent]:
    """The right records that count for a left one, in their order. They are sorted, so that a hot key takes no time."""
    if table.join == "asof":
        return rights[: bisect_right(rights, left.ts, key=lambda right: right.ts)]
    if pushed_out_by is not None:
        return rights[: bisect_left(rights, pushed_out_by.order, key=lambda right: right.order)]
    return rights


def _row(catalog: Catalog, table: JoinTable, left: Sent, right: Sent | None) -> dict[str, Any]:
    sides = {"left": _cells(catalog.sources[table.left], left), "right": _cells(catalog.sources[table.right], right)}
    return {joined.column.name: sides[joined.side][joined.origin] for joined in table.joined}
