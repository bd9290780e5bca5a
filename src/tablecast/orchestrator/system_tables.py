"""The tables that outlive generations: `orchestrator_status`, one row, and `control_raw`, a row for each control message.

Their changelogs are as those that Spark writes, so servers read them like any other.
"""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Message

from tablecast.catalog import Catalog, Column
from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.control import CONTROL_COLUMNS, CONTROL_ROWS, CONTROL_TABLE, STATUS_TABLE, header, topic_field
from tablecast.kafka.names import LASTING, system_changelog
from tablecast.kafka.status import COMING, ColumnStatus, GenerationStatus, TableStatus, newest_live
from tablecast.orchestrator.ledger import Record

STATUS_ROW = b"orchestrator"


class VersionClock:
    """Milliseconds that never repeat and never go back, also after a restart on another machine."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last = max(self._last + 1, time.time_ns() // 1_000_000)
        return self._last

    def saw(self, message: Message) -> None:
        """A version that was given before."""
        for order in (header(message, VERSION_HEADER) or b"").split(b"|"):
            stamp = order.partition(b":")[0]
            if stamp.isdigit():
                self._last = max(self._last, int(stamp))


def ensure_system_topics(topics: Topics, prefix: str, replication: int) -> None:
    for table in (STATUS_TABLE, CONTROL_TABLE):
        topics.ensure(system_changelog(prefix, table), 1, LASTING, replication)


def status_columns(catalog: Catalog) -> tuple[Column, ...]:
    return (
        *(Column(topic_field(source), "string") for source in catalog.sources),
        Column("joinType", "string"),
        Column("lastApplied", "timestamp"),
        Column("generation", "int64"),
        Column("state", "string"),
        Column("building", "int64"),
        Column("rows", "int64"),
        Column("hydrationSeconds", "double"),
        Column("lastError", "string"),
    )


def system_table_statuses(catalog: Catalog, prefix: str) -> dict[str, TableStatus]:
    """What a server needs to serve them."""
    return {
        STATUS_TABLE: TableStatus(system_changelog(prefix, STATUS_TABLE), _told(status_columns(catalog))),
        CONTROL_TABLE: TableStatus(system_changelog(prefix, CONTROL_TABLE), _told(CONTROL_COLUMNS), CONTROL_ROWS),
    }


def _told(columns: tuple[Column, ...]) -> tuple[ColumnStatus, ...]:
    return tuple(ColumnStatus(column.name, column.type) for column in columns)


def status_cells(generations: Mapping[int, GenerationStatus], last_error: str | None) -> dict[str, Any]:
    """The row of `orchestrator_status`: the live generation, and the one in the making if there is one."""
    newest_first = [status for _, status in sorted(generations.items(), reverse=True)]
    live = newest_live(newest_first)
    making = next((status for status in newest_first if status.state in COMING), None)
    shown = live or making
    topics = {topic_field(source): topic for source, topic in (shown.topics if shown else {}).items()}
    return topics | {
        "joinType": next(iter(shown.join.values()), None) if shown else None,
        "lastApplied": timestamp_cell(live.changed) if live else None,
        "generation": str(live.generation) if live else None,
        "state": making.state if making else live.state if live else None,
        "building": str(making.generation) if making else None,
        "rows": str(sum(live.ends.values())) if live else None,
        "hydrationSeconds": live.hydrated if live else None,
        "lastError": (live.error if live else None) or last_error,
    }


def status_record(prefix: str, cells: Mapping[str, Any], clock: VersionClock) -> Record:
    version = f"{clock.next()}:0:0".encode()
    return Record(system_changelog(prefix, STATUS_TABLE), STATUS_ROW, encoded(cells), ((VERSION_HEADER, version),))


def encoded(cells: Mapping[str, Any]) -> bytes:
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":")).encode()


def timestamp_cell(moment: str | datetime) -> str:
    """As rows tell a time."""
    parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return parsed.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
