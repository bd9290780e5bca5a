"""What a generation is, before and apart from its running."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

import pyspark

import tablecast
from tablecast.catalog import Bound, Catalog
from tablecast.kafka.names import changelog_topic
from tablecast.kafka.status import ColumnStatus, GenerationStatus, State, TableStatus, told_time
from tablecast.orchestrator.control import joins_of
from tablecast.orchestrator.system_tables import system_table_statuses
from tablecast.settings import Settings


@dataclass(frozen=True)
class Blueprint:
    number: int
    catalog: Catalog
    fingerprint: str
    changelogs: dict[str, str]
    joins: dict[str, str]
    """Of the tables whose join a control message changes."""
    system: dict[str, TableStatus]
    """The tables that outlive generations."""
    requested: str | None = None
    """The id of the control message that asked for it."""

    def status(self, state: State, error: str | None = None) -> GenerationStatus:
        return GenerationStatus(
            generation=self.number,
            state=state,
            topics={name: source.topic for name, source in self.catalog.sources.items()},
            tables={name: self._table_status(name) for name in self.changelogs} | self.system,
            aliases=dict(self.catalog.aliases),
            fingerprint=self.fingerprint,
            changed=told_time(datetime.now(UTC)),
            error=error,
            join=self.joins,
            requested=self.requested,
        )

    def __str__(self) -> str:
        """Its topics and its join, as people look for them in the log."""
        topics = " ".join(f"{name}={source.topic!r}" for name, source in self.catalog.sources.items())
        return f"{topics} join={next(iter(self.joins.values()), '')!r}"

    def bounded(self) -> dict[str, Bound]:
        """The changelogs of tables that do not keep every row."""
        bounds = {self.changelogs[name]: table.bound for name, table in self.catalog.tables.items()}
        return {topic: bound for topic, bound in bounds.items() if bound != Bound()}

    def _table_status(self, name: str) -> TableStatus:
        columns = tuple(ColumnStatus(column.name, column.type) for column in self.catalog.columns()[name])
        bound = self.catalog.tables[name].bound if name in self.catalog.tables else Bound()
        return TableStatus(self.changelogs[name], columns, bound.rows, bound.seconds)


def draw(number: int, catalog: Catalog, settings: Settings, requested: str | None = None) -> Blueprint:
    prefix = settings.changelog.prefix
    return Blueprint(
        number,
        catalog,
        fingerprint(catalog, settings),
        changelogs={table: changelog_topic(prefix, table, number) for table in catalog.columns()},
        joins=joins_of(catalog, settings.control.joins),
        system=system_table_statuses(catalog, prefix),
        requested=requested,
    )


def fingerprint(catalog: Catalog, settings: Settings) -> str:
    """Differs whenever a checkpoint of one would not fit, or would mean something else, under the other.

    Where a generation begins (pipeline.starting_offsets) is not part of it: its spans say where it began, and whoever changes the setting asks
    for it of the next generation, not for tables that lose or gain rows at a restart.
    """
    pipeline = settings.pipeline
    versions = (pyspark.__version__, tablecast.__version__)
    meaning = (catalog, pipeline.history, pipeline.row_bytes, pipeline.trigger, settings.kafka.servers, *versions)
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]
