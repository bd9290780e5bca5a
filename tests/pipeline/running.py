"""A running query over topics of its own, and what to send it."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.catalog import Catalog
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer
from tablecast.kafka.java_settings import java_settings
from tablecast.orchestrator.marks import Marks
from tablecast.orchestrator.spans import measure
from tablecast.pipeline.plan import plan_queries
from tablecast.pipeline.query import Ends, Span, fill, start_query
from tablecast.pipeline.rows import MARKS, SEEDS
from tablecast.pipeline.seed import mark_lanes
from tablecast.pipeline.session import state_partitions
from tablecast.settings import KafkaSettings, PipelineSettings
from tests.pipeline.changelogs import Changelogs
from tests.pipeline.model import Content, Sent, truth

SECONDS = 60.0
MOST_IN_FLIGHT = 50_000
SEED_PARTITIONS = 2


@dataclass(frozen=True)
class Draft:
    """A record before it is sent. `value` is a dict, or bytes that are bad for `reason`."""

    source: str
    value: dict[str, Any] | bytes
    ts: int
    partition: int = 0
    reason: str | None = None


@dataclass
class Running:
    """Sends records and waits for what comes out. Several examples may share one query if their keys differ."""

    catalog: Catalog
    kafka: KafkaSettings
    changelogs: Changelogs
    queries: list[StreamingQuery]
    producer: Producer
    sent: list[Sent] = field(default_factory=list)
    history: int | None = None
    """Given where keys have more records than the history holds."""

    def send(self, drafts: Iterable[Draft]) -> list[Sent]:
        """Returns when Kafka has them, with the offsets that they got."""
        sent: list[Sent] = []
        for draft in drafts:
            self._produce(draft, sent)
        assert self.producer.flush(30) == 0
        self.sent += sent
        return sent

    def _produce(self, draft: Draft, sent: list[Sent]) -> None:
        value = draft.value if isinstance(draft.value, bytes) else json.dumps(draft.value, ensure_ascii=False).encode()
        meant = None if draft.reason else draft.value

        def delivered(error: Any, message: Message) -> None:
            assert error is None, error
            offset = message.offset()
            assert offset is not None
            sent.append(Sent(draft.source, draft.ts, draft.partition, offset, meant if isinstance(meant, dict) else None, draft.reason))

        topic = self.catalog.sources[draft.source].topic
        while len(self.producer) >= MOST_IN_FLIGHT:
            self.producer.poll(1)
        self.producer.produce(topic, value, partition=draft.partition, timestamp=draft.ts, on_delivery=delivered)
        self.producer.poll(0)

    def expect_truth(self, seconds: float = SECONDS) -> None:
        """Waits until every table equals the truth of all that was sent; fails with the first difference."""
        self.expect(truth(self.catalog, self.sent, self.history), seconds)

    def expect(self, expected: Mapping[str, Content], seconds: float = SECONDS) -> None:
        """Waits until every table has this content; fails with the first difference."""
        deadline = time.monotonic() + seconds
        while True:
            # What is still coming would only be compared in vain.
            if self.changelogs.poll() and time.monotonic() < deadline:
                continue
            differing = [table for table, content in expected.items() if not self._holds(table, content)]
            if not differing:
                return
            for query in self.queries:
                assert query.isActive, query.exception()
            if time.monotonic() > deadline:
                table = differing[0]
                wrong = [pair for pair in zip_longest(self._content(table), expected[table]) if pair[0] != pair[1]][:5]
                raise AssertionError(f"{table} differs, its row before what is expected: {wrong}; emitted {self.changelogs.emitted}")

    def _holds(self, table: str, content: Content) -> bool:
        return len(self.changelogs.rows[table]) == len(content) and self._content(table) == content

    def close(self) -> None:
        for query in self.queries:
            query.stop()
        self.changelogs.close()

    def _content(self, table: str) -> list[tuple[str, dict[str, Any]]]:
        content = self.changelogs.content(table)
        return [(row_id, {"reason": cells["reason"]}) for row_id, cells in content] if table == "dead_letters" else content


@dataclass(frozen=True)
class Bench:
    """What a query needs to run: where Spark and Kafka are, and topics for everything."""

    spark: SparkSession
    kafka: KafkaSettings
    catalog: Catalog
    topics: Mapping[str, str]
    settings: PipelineSettings
    folder: Path

    def ends(self, number: int) -> Ends:
        consumer, producer = java_settings(self.kafka, "consumer").spark_options(), java_settings(self.kafka, "producer").spark_options()
        own = {SEEDS: self.topics[f"{SEEDS}{number}"], MARKS: self.topics[f"{MARKS}{number}"]}
        return Ends(consumer, consumer, producer, {**self.topics, **own})

    def spans(self) -> dict[str, Span]:
        return measure(Topics(self.kafka), [source.topic for source in self.catalog.sources.values()], from_beginning=True)

    def started(self, spans: Mapping[str, Span]) -> list[StreamingQuery]:
        return [
            start_query(self.spark, plan, self.ends(number), self.settings, spans, str(self.folder / f"q{number}"))
            for number, plan in enumerate(plan_queries(self.catalog))
        ]

    def filled(self, spans: Mapping[str, Span]) -> int:
        """How many records were pushed out of their history."""
        return sum(fill(self.spark, plan, self.ends(number), self.settings, spans) for number, plan in enumerate(plan_queries(self.catalog)))

    def await_seeds(self) -> None:
        """Returns when the queries know what a fill knew."""
        partitions = state_partitions(self.spark)
        for number in range(len(plan_queries(self.catalog))):
            topics = self.ends(number).topics
            marks = Marks(self.kafka, topics[SEEDS], topics[MARKS], SEED_PARTITIONS, mark_lanes(self.spark, partitions))
            marks.send()
            deadline = time.monotonic() + 3 * SECONDS
            while not marks.all_came():
                assert time.monotonic() < deadline, marks.awaited
            marks.close()

    def running(self, queries: list[StreamingQuery]) -> Running:
        tables = {table: self.topics[table] for table in self.catalog.columns()}
        return Running(
            self.catalog,
            self.kafka,
            Changelogs(self.kafka, tables),
            queries,
            make_producer(self.kafka, {"linger.ms": 0, "message.max.bytes": 4_000_000}),
        )
