"""Dry runs: what would become of a control message. Nothing is built for one, and none takes a turn from another."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from tablecast.configuration import Configuration
from tablecast.errors import SparkUnusable
from tablecast.kafka.admin import Topics
from tablecast.kafka.control import Verdict
from tablecast.orchestrator import spans
from tablecast.orchestrator.agenda import Asked, ignoring
from tablecast.orchestrator.blueprint import draw
from tablecast.orchestrator.build import check_slots
from tablecast.orchestrator.control import Rejection, asked_for
from tablecast.orchestrator.examine import examine
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.stage import Stage
from tablecast.orchestrator.task import Task
from tablecast.orchestrator.verdicts import Answer
from tablecast.settings import KafkaSettings


@dataclass(frozen=True)
class Outcome:
    verdict: Verdict
    reason: str
    generation: int | None = None


class Rehearsal:
    """One step a call, none of which waits for long. The newest dry run first: somebody waits for its answer."""

    def __init__(self, stage: Stage, configuration: Configuration, changelog: KafkaSettings, session: SparkSession) -> None:
        self.stage = stage
        self.catalog = configuration.catalog
        self.settings = configuration.settings
        self.changelog = changelog
        self.session = session
        self._examination: tuple[Asked, Task[Outcome]] | None = None

    def step(self) -> None:
        self._examined()
        waiting = self.stage.clerk.dry_runs
        if self._examination is not None or not waiting:
            return
        asked = waiting[-1]
        known = self._known(asked)
        if known is not None:
            self._answer(asked, known)
        else:
            catalog = asked_for(self.catalog, asked.request, self.settings.control.joins)
            blueprint = draw(self.stage.board.next_number(), catalog, self.settings, asked.letter.id)
            generation = Generation(blueprint, self.session, self.settings, self.changelog)
            beside = [self.stage.live] if self.stage.live is not None else []
            self._examination = (asked, Task(f"dry run {asked.letter.id}", lambda: rehearse(generation, beside)))

    def _known(self, asked: Asked) -> Outcome | None:
        """The answer where nobody has to look at a topic for it."""
        live, build = self.stage.live, self.stage.build
        if live is not None and not live.lost and asked.fingerprint == live.blueprint.fingerprint:
            return Outcome("no_change", f"generation {live.blueprint.number} shows this already", live.blueprint.number)
        if build is not None and build.given_up is None and asked.fingerprint == build.generation.blueprint.fingerprint:
            number = build.generation.blueprint.number
            return Outcome("would_apply", f"generation {number}, which is being built, will show this", number)
        return None

    def _examined(self) -> None:
        if self._examination is None or not self._examination[1].done:
            return
        (asked, task), self._examination = self._examination, None
        failed = Outcome("rejected", f"its topics could not be looked at: {task.error}")
        self._answer(asked, task.result if task.result is not None else failed)

    def _answer(self, asked: Asked, outcome: Outcome) -> None:
        """Whoever asked the same gets the same answer."""
        clerk = self.stage.clerk
        same = [other for other in clerk.dry_runs if other.request == asked.request]
        clerk.dry_runs = [other for other in clerk.dry_runs if other not in same]
        clerk.answer([Answer(other.letter, outcome.verdict, outcome.reason + ignoring(other), outcome.generation) for other in same])


def rehearse(generation: Generation, beside: list[Generation]) -> Outcome:
    """What a real message would meet before its generation is built: the same examination, and the slots that it needs beside those that run."""
    catalog, settings = generation.blueprint.catalog, generation.settings
    rejection = examine(catalog, settings.kafka)
    if isinstance(rejection, Rejection):
        return Outcome("rejected", rejection.reason)
    try:
        check_slots(generation, beside)
    except SparkUnusable as error:
        return Outcome("rejected", str(error))
    topics = {name: source.topic for name, source in catalog.sources.items()}
    measured = spans.measure(Topics(settings.kafka, "source"), topics.values(), settings.pipeline.starting_offsets == "earliest")
    told = ", ".join(f"{measured[topic].records:,} of {name}" for name, topic in topics.items())
    return Outcome("would_apply", f"a generation would be filled from {told}")
