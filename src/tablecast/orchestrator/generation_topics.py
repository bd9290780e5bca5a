"""The topics of a generation: its changelogs, and the seeds and marks of its queries."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tablecast.kafka.admin import Topics
from tablecast.kafka.changelog import record_bytes, seed_bytes
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.names import TRIMMED, mark_topic, seed_topic
from tablecast.orchestrator.blueprint import Blueprint
from tablecast.pipeline.query import Ends
from tablecast.pipeline.rows import MARKS, SEEDS
from tablecast.settings import KafkaSettings, Settings

COMPACTED = {"cleanup.policy": "compact"}
MOST_AT_ONCE = 8


class GenerationTopics:
    """Created once, before the first record; removed by removal.py, which knows them by their names alone."""

    def __init__(self, blueprint: Blueprint, settings: Settings, changelog: KafkaSettings, queries: int, seed_partitions: int) -> None:
        self.blueprint = blueprint
        self.settings = settings
        self.changelog = changelog
        self.queries = queries
        self.seed_partitions = seed_partitions

    def create(self) -> None:
        """All at once: one after the other would take most of a second, in which nobody has anything to do."""
        topics, copies = Topics(self.changelog), self.settings.changelog.replication
        with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
            made = [pool.submit(topics.ensure, name, partitions, config, copies) for name, partitions, config in self._wanted()]
        for future in made:
            future.result()

    def _wanted(self) -> Iterator[tuple[str, int, dict[str, str]]]:
        """Name, partitions and settings of each."""
        large = {"max.message.bytes": str(record_bytes(self.settings.pipeline.row_bytes))}
        bounded = self.blueprint.bounded()
        for topic in self.blueprint.changelogs.values():
            yield topic, 1, large | (TRIMMED if topic in bounded else COMPACTED)
        for number in range(self.queries):
            own = self._own(number)
            # Never deleted by age: a query that starts anew reads its seeds again.
            yield own[SEEDS], self.seed_partitions, {"max.message.bytes": str(seed_bytes(self.settings.pipeline.row_bytes)), "retention.ms": "-1"}
            yield own[MARKS], 1, {"retention.ms": "-1"}

    def end_offsets(self) -> dict[str, int]:
        """Changelog to the offset after its last record now."""
        topics = Topics(self.changelog)
        return {topic: topics.end_offsets(topic)[0] for topic in self.blueprint.changelogs.values()}

    def of_query(self, number: int) -> Ends:
        return Ends(
            sources=java_settings(self.settings.kafka, "consumer").spark_options(),
            seeds=java_settings(self.changelog, "consumer").spark_options(),
            changelogs=java_settings(self.changelog, "producer").spark_options(),
            topics=self.blueprint.changelogs | self._own(number),
        )

    def _own(self, number: int) -> dict[str, str]:
        prefix, generation = self.settings.changelog.prefix, self.blueprint.number
        return {SEEDS: seed_topic(prefix, generation, number), MARKS: mark_topic(prefix, generation, number)}
