"""A generation that runs: its topics, checkpoints, spans and queries."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.errors import GenerationFailed
from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import record_bytes
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.names import mark_topic, seed_topic
from tablecast.orchestrator import spans
from tablecast.orchestrator.blueprint import Blueprint
from tablecast.orchestrator.marks import Marks
from tablecast.orchestrator.removal import folder_of, remove_generation
from tablecast.pipeline.plan import QueryPlan, plan_queries
from tablecast.pipeline.query import Ends, Spans, fill, start_query
from tablecast.pipeline.rows import MARKS, SEEDS
from tablecast.pipeline.seed import mark_lanes
from tablecast.pipeline.session import state_partitions
from tablecast.settings import KafkaSettings, Settings

log = logging.getLogger(__name__)


class Generation:
    """build() and then start(), or after a restart start() alone."""

    def __init__(self, blueprint: Blueprint, session: SparkSession, settings: Settings, changelog: KafkaSettings) -> None:
        self.blueprint = blueprint
        self.session = session
        self.settings = settings
        self.changelog = changelog
        self.plans: list[QueryPlan] = plan_queries(blueprint.catalog)
        self.queries: list[StreamingQuery] = []

    @property
    def folder(self) -> Path:
        return folder_of(self.blueprint.number, self.settings)

    @property
    def spans_file(self) -> Path:
        return self.folder / "spans.json"

    def build(self) -> None:
        """Creates the topics and writes every row of the records that exist now."""
        self._create_topics()
        sources = [given.source.topic for plan in self.plans for given in plan.inputs]
        measured = spans.measure(Topics(self.settings.kafka, "source"), sources, self.settings.pipeline.starting_offsets == "earliest")
        spans.save(measured, self.spans_file)
        total = sum(span.records for span in measured.values())
        log.info("[orchestrator] generation %d: filling %s records", self.blueprint.number, f"{total:,}")
        started = time.monotonic()
        for number, plan in enumerate(self.plans):
            self._fill(number, plan, measured)
        seconds = time.monotonic() - started
        log.info("[orchestrator] generation %d: filled in %.1f s (%s records/s)", self.blueprint.number, seconds, f"{total / seconds:,.0f}")

    def start(self) -> None:
        """Starts the queries. Those with a checkpoint go on where they were."""
        known = spans.read(self.spans_file)
        for number, plan in enumerate(self.plans):
            checkpoint = self.folder / f"q{number}"
            self.queries.append(start_query(self.session, plan, self._ends(number), self.settings.pipeline, known, checkpoint))

    def await_marks(self, given_up: Callable[[], bool]) -> None:
        """Returns when every query knows what the batch job knew. GenerationFailed if a query ends before."""
        lanes = mark_lanes(self.session, state_partitions())
        for number in range(len(self.plans)):
            ends = self._ends(number)
            marks = Marks(self.changelog, ends.topics[SEEDS], ends.topics[MARKS], state_partitions(), lanes)
            try:
                marks.send()
                while not marks.all_came() and not given_up():
                    if reason := self.failure():
                        raise GenerationFailed(self.blueprint.number, reason)
            finally:
                marks.close()

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
        """Stops and forgets everything: topics and checkpoints too."""
        self.stop()
        remove_generation(self.blueprint.number, Topics(self.changelog), self.settings)

    def _fill(self, number: int, plan: QueryPlan, measured: Spans) -> None:
        if any(measured[given.source.topic].records for given in plan.inputs):
            fill(self.session, plan, self._ends(number), self.settings.pipeline, measured)

    def _create_topics(self) -> None:
        topics = Topics(self.changelog)
        copies = self.settings.changelog.replication
        large = {"max.message.bytes": str(record_bytes(self.settings.pipeline.row_bytes))}
        for topic in self.blueprint.changelogs.values():
            topics.ensure(topic, 1, large | {"cleanup.policy": "compact"}, copies)
        for number in range(len(self.plans)):
            own = self._own_topics(number)
            # Never deleted by age: a query that starts anew reads its seeds again.
            topics.ensure(own[SEEDS], state_partitions(), large | {"retention.ms": "-1"}, copies)
            topics.ensure(own[MARKS], 1, {"retention.ms": "-1"}, copies)

    def _own_topics(self, number: int) -> dict[str, str]:
        prefix, generation = self.settings.changelog.prefix, self.blueprint.number
        return {SEEDS: seed_topic(prefix, generation, number), MARKS: mark_topic(prefix, generation, number)}

    def _ends(self, number: int) -> Ends:
        return Ends(
            sources=java_settings(self.settings.kafka, "consumer").spark_options(),
            seeds=java_settings(self.changelog, "consumer").spark_options(),
            changelogs=java_settings(self.changelog, "producer").spark_options(),
            topics=self.blueprint.changelogs | self._own_topics(number),
        )
