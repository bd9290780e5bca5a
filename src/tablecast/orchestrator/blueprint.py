"""What a generation is, before and apart from its running."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

import pyspark

import tablecast
from tablecast.catalog import Bound, Catalog
from tablecast.kafka.names import changelog_topic
from tablecast.kafka.status import ColumnStatus, GenerationStatus, State, TableStatus
from tablecast.settings import Settings


@dataclass(frozen=True)
class Blueprint:
    number: int
    catalog: Catalog
    fingerprint: str
    changelogs: dict[str, str]

    def status(self, state: State, error: str | None = None) -> GenerationStatus:
        return GenerationStatus(
            generation=self.number,
            state=state,
            topics={name: source.topic for name, source in self.catalog.sources.items()},
            tables={name: self._table_status(name) for name in self.changelogs},
            aliases=dict(self.catalog.aliases),
            fingerprint=self.fingerprint,
            changed=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            error=error,
        )

    def bounded(self) -> dict[str, Bound]:
        """The changelogs of tables that do not keep every row."""
        bounds = {self.changelogs[name]: table.bound for name, table in self.catalog.tables.items()}
        return {topic: bound for topic, bound in bounds.items() if bound != Bound()}

    def _table_status(self, name: str) -> TableStatus:
        columns = tuple(ColumnStatus(column.name, column.type) for column in self.catalog.columns()[name])
        bound = self.catalog.tables[name].bound if name in self.catalog.tables else Bound()
        return TableStatus(self.changelogs[name], columns, bound.rows, bound.seconds)


def draw(number: int, catalog: Catalog, settings: Settings) -> Blueprint:
    changelogs = {table: changelog_topic(settings.changelog.prefix, table, number) for table in catalog.columns()}
    return Blueprint(number, catalog, fingerprint(catalog, settings), changelogs)


def fingerprint(catalog: Catalog, settings: Settings) -> str:
    """Differs whenever a checkpoint of one would not fit, or would mean something else, under the other."""
    meaning = (catalog, settings.pipeline.history, settings.pipeline.trigger, settings.kafka.servers, pyspark.__version__, tablecast.__version__)
    return hashlib.sha256(repr(meaning).encode()).hexdigest()[:16]
