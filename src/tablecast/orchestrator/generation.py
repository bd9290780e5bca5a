"""A generation that runs: its topics, checkpoints, spans and queries."""

import logging
import threading
import time
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.errors import GenerationFailed
from tablecast.kafka.admin import Topics
from tablecast.orchestrator import spans
from tablecast.orchestrator.blueprint import Blueprint
from tablecast.orchestrator.crew import Crew
from tablecast.orchestrator.generation_topics import GenerationTopics
from tablecast.orchestrator.keeper import Keeper
from tablecast.orchestrator.marks import Marks
from tablecast.orchestrator.removal import remove_generation
from tablecast.orchestrator.trim import Trimmer
from tablecast.pipeline.checkpoints import checkpoint_folder
from tablecast.pipeline.plan import QueryPlan, plan_queries
from tablecast.pipeline.progress import FillProgress, Tell
from tablecast.pipeline.query import Spans, fill, start_query
from tablecast.pipeline.rows import MARKS, SEEDS
from tablecast.pipeline.seed import mark_lanes
from tablecast.pipeline.session import state_partitions
from tablecast.pipeline.slots import seed_partitions, slots_needed
from tablecast.settings import KafkaSettings, Settings, seconds

log = logging.getLogger(__name__)


class Generation:
    """prepare(), fill(), start() and await_marks(), or after a restart start() alone; then its `crew` is to be tended."""

    def __init__(self, blueprint: Blueprint, session: SparkSession, settings: Settings, changelog: KafkaSettings) -> None:
        self.blueprint = blueprint
        self.session = session
        self.settings = settings
        self.changelog = changelog
        self.plans: list[QueryPlan] = plan_queries(blueprint.catalog)
        self.crew = Crew()
        self.trimmer = Trimmer(changelog, blueprint.bounded())
        self.known_out_of_history = 0
        """What was counted before the keepers began to count."""
        self.state_partitions = state_partitions(session)
        self.topics = GenerationTopics(blueprint, settings, changelog, len(self.plans), seed_partitions(self.state_partitions))
        self.folder = checkpoint_folder(blueprint.number, settings.pipeline, session)
        self.abandoned = threading.Event()
        self._slots: list[int] | None = None
        self._lanes: Sequence[str] = ()

    def prepare(self) -> None:
        """Creates the topics, and measures which records exist now: these are filled, and the queries begin behind them. What stood under its
        number, as after a status topic was lost, is nobody's."""
        remove_generation(self.blueprint.number, Topics(self.changelog), self.settings, self.session)
        self.topics.create()
        sources = {given.source.topic for plan in self.plans for given in plan.inputs}
        measured = spans.measure(Topics(self.settings.kafka, "source"), sources, self.settings.pipeline.starting_offsets == "earliest")
        spans.save(measured, self.folder)
        # By a job of Spark's: once the queries run, there may be no slot left for one.
        self._lanes = mark_lanes(self.session, self.state_partitions)

    def fill(self, tell: Tell, tasks: int | None = None) -> None:
        """Writes every row of the measured records, with at most so many `tasks` at once. `tell` hears how far that is, from another thread.
        GenerationFailed once it is abandoned, and whatever Spark and Kafka raise."""
        measured = spans.read(self.folder)
        records = [sum(measured[given.source.topic].records for given in plan.inputs) for plan in self.plans]
        total, started = sum(records), time.monotonic()
        progress = FillProgress(self.session, total, tell)
        log.info("[orchestrator] generation %d: filling %s records", self.blueprint.number, f"{total:,}")
        for number, plan in enumerate(self.plans):
            self.go_on()
            if records[number]:
                with progress.of_query(self._job_group(number), records[number], plan.keyed):
                    self.known_out_of_history += fill(self.session, plan, self.topics.of_query(number), self.settings.pipeline, measured, tasks)
        took = time.monotonic() - started
        log.info("[orchestrator] generation %d: filled in %.1f s (%s records/s)", self.blueprint.number, took, f"{total / took:,.0f}")

    def abandon(self) -> None:
        """Whoever builds it, in another thread, gives up soon. To be called again until that thread has ended: a job may begin just now."""
        self.abandoned.set()
        for number in range(len(self.plans)):
            self.session.sparkContext.cancelJobGroup(self._job_group(number))

    def go_on(self) -> None:
        """GenerationFailed if it was abandoned."""
        if self.abandoned.is_set():
            raise GenerationFailed(self.blueprint.number, "it was abandoned before it was ready")

    def slots(self) -> int:
        """How many task slots it needs to run."""
        return sum(self._slots_of_queries()) * (2 if self.settings.pipeline.twin else 1)

    def held_slots(self) -> int:
        """How many it has while it runs. A query that is lost is not started again, and needs none."""
        queries = self.crew.held()
        return sum(self._slots_of_queries()[query] for query in queries) if queries else 0

    def _slots_of_queries(self) -> list[int]:
        """A micro-batch takes what is free, and gives it back."""
        if self.settings.pipeline.trigger == "microbatch":
            return [0] * len(self.plans)
        if self._slots is None:
            topics = Topics(self.settings.kafka, "source")
            partitions = {source.topic: topics.partitions(source.topic) for source in self.blueprint.catalog.sources.values()}
            self._slots = [slots_needed(plan, partitions, self.state_partitions) for plan in self.plans]
        return self._slots

    def start(self) -> None:
        """Starts the queries. Those with a checkpoint go on where they were. A twin begins half an interval later, so that one of the two is
        always inside a batch."""
        known = spans.read(self.folder)
        half = seconds(self.settings.pipeline.checkpoint_interval) / 2
        for number in range(len(self.plans)):
            self.crew.keepers.append(self._keeper(number, f"q{number}", known, 0.0))
            if self.settings.pipeline.twin:
                self.crew.keepers.append(self._keeper(number, f"q{number}-twin", known, half))
        self.trimmer.start()
        self.crew.tend()

    @property
    def out_of_history(self) -> int:
        """Records that newer ones of their key pushed out of the history."""
        return self.known_out_of_history + self.crew.out_of_history

    @property
    def lost(self) -> bool:
        """Whether it must be built anew."""
        return self.crew.lost

    def await_marks(self) -> None:
        """Returns when every query knows what the batch job knew. GenerationFailed if a query fails, or it is abandoned, before."""
        for number in range(len(self.plans)):
            topics = self.topics.of_query(number).topics
            marks = Marks(self.changelog, topics[SEEDS], topics[MARKS], self.topics.seed_partitions, self._lanes)
            try:
                marks.send()
                while not marks.all_came():
                    self.go_on()
                    for reason in self.crew.tend():
                        raise GenerationFailed(self.blueprint.number, reason)
            finally:
                marks.close()

    def stop(self) -> None:
        self.trimmer.stop()
        self.crew.stop()

    def remove(self) -> None:
        """Stops and forgets everything: topics and checkpoints too."""
        self.stop()
        remove_generation(self.blueprint.number, Topics(self.changelog), self.settings, self.session)

    def _keeper(self, number: int, name: str, known: Spans, delay: float) -> Keeper:
        def start() -> StreamingQuery:
            return start_query(self.session, self.plans[number], self.topics.of_query(number), self.settings.pipeline, known, self.folder.place(name))

        return Keeper(name, start, delay, number)

    def _job_group(self, number: int) -> str:
        return f"generation {self.blueprint.number}, query {number}"
