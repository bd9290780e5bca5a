"""A generation: one catalogue over one set of topics, its changelogs, checkpoints and queries."""

import hashlib
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import tablecast
from tablecast.catalog import Bound, Catalog
from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import record_bytes
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.names import changelog_topic
from tablecast.kafka.status import ColumnStatus, GenerationStatus, State, TableStatus
from tablecast.pipeline.plan import plan_queries
from tablecast.pipeline.query import Ends, start_query
from tablecast.settings import KafkaSettings, Settings


@dataclass(frozen=True)
class Blueprint:
    """What a generation is, before and apart from its running."""

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


class Generation:
    """The running queries of a blueprint."""

    def __init__(self, blueprint: Blueprint, session: SparkSession, settings: Settings, changelog: KafkaSettings) -> None:
        self.blueprint = blueprint
        self.session = session
        self.settings = settings
        self.changelog = changelog
        self.queries: list[StreamingQuery] = []

    @property
    def checkpoints(self) -> Path:
        return self.settings.pipeline.state_dir.resolve() / "checkpoints" / f"g{self.blueprint.number}"

    def create_changelogs(self) -> None:
        topics = Topics(self.changelog)
        config = {"cleanup.policy": "compact", "max.message.bytes": str(record_bytes(self.settings.pipeline.row_bytes))}
        for topic in self.blueprint.changelogs.values():
            topics.ensure(topic, 1, config, self.settings.changelog.replication)

    def start(self) -> None:
        """Starts every query that does not run. Those with a checkpoint go on where they were."""
        ends = Ends(
            java_settings(self.settings.kafka, "consumer").spark_options(),
            java_settings(self.changelog, "producer").spark_options(),
            self.blueprint.changelogs,
        )
        for number, plan in enumerate(plan_queries(self.blueprint.catalog)):
            query = start_query(self.session, plan, ends, self.settings.pipeline, self.checkpoints / f"q{number}")
            self.queries.append(query)

    def failure(self) -> str | None:
        """Why a query ended, in one line; None while all run."""
        for query in self.queries:
            if not query.isActive:
                error = query.exception()
                return str(error).strip().splitlines()[0][:500] if error is not None else "a query ended without a reason"
        return None

    def stop(self) -> None:
        for query in self.queries:
            query.stop()
        self.queries.clear()

    def remove(self) -> None:
        """Stops and forgets everything: changelogs and checkpoints too."""
        self.stop()
        Topics(self.changelog).delete(self.blueprint.changelogs.values())
        shutil.rmtree(self.checkpoints, ignore_errors=True)
