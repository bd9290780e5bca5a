"""Keeps one generation live: builds it or goes on with it, restarts its queries when they fail, says so on the status topic."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tablecast.configuration import Configuration
from tablecast.errors import GenerationFailed, SparkUnusable, TablecastError, TopicMissing
from tablecast.jars import fetch
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.broker import wait_for_broker
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.status import Progress
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.blueprint import Blueprint, draw
from tablecast.orchestrator.board import StatusBoard
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.heart import Heart
from tablecast.orchestrator.removal import remove_generation
from tablecast.pipeline.session import start_session
from tablecast.pipeline.slots import reserve
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

POLL_SECONDS = 0.2
WAIT_SECONDS = 60.0

UNFINISHED = ("building", "hydrating", "ready", "lingering")

Result = TypeVar("Result")


def orchestrate(configuration: Configuration, stop: threading.Event) -> None:
    """Runs until `stop` is set. A Kafka that is away or a topic that is missing is waited for; it never ends by itself."""
    changelog = configuration.settings.changelog.kafka or patiently(lambda: wait_for_broker(configuration.settings), stop)
    if changelog is None:
        return
    properties = java_settings(configuration.settings.kafka, "consumer").properties | java_settings(changelog, "producer").properties
    session = start_session(configuration.settings, fetch(configuration.settings, ("spark",)).spark, properties)
    log.info("[orchestrator] Spark %s is up", session.version)
    try:
        Orchestrator(configuration, changelog, session, stop).run()
    finally:
        session.stop()


def patiently(step: Callable[[], Result], stop: threading.Event) -> Result | None:
    """The step's result, tried until it succeeds; None if stopped before. Each reason is told once."""
    backoff, told = Backoff(), ""
    while not stop.is_set():
        try:
            return step()
        except TablecastError as error:
            if not (error.transient or isinstance(error, TopicMissing)):
                raise
            if str(error) != told:
                told = str(error)
                log.warning("[orchestrator] waiting: %s", told)
            stop.wait(backoff.next(time.monotonic()))
    return None


class Orchestrator:
    """One generation at a time: built or gone on with, kept running, and replaced when it cannot go on."""

    def __init__(self, configuration: Configuration, changelog: KafkaSettings, session: SparkSession, stop: threading.Event) -> None:
        self.settings = configuration.settings
        self.catalog = configuration.catalog
        self.changelog = changelog
        self.session = session
        self.stop = stop
        self.lingering: dict[int, float] = {}
        self.live: Generation | None = None

    def run(self) -> None:
        board = patiently(self._open_board, self.stop)
        if board is None or patiently(self._check_sources, self.stop) is None:
            return
        self._clean_up(board)
        generation = patiently(lambda: self._generation(board), self.stop)
        if generation is None:
            return
        self.live = generation
        heart = Heart(board, lambda: self.live.failing() if self.live else None)
        heart.start()
        log.info("[orchestrator] ready")
        self._keep_running(generation, board).stop()
        heart.stop()

    def _open_board(self) -> StatusBoard:
        wait_until_up(self.changelog, WAIT_SECONDS, "changelog", self.stop.is_set)
        return StatusBoard(self.changelog, self.settings)

    def _check_sources(self) -> bool:
        wait_until_up(self.settings.kafka, WAIT_SECONDS, "source", self.stop.is_set)
        topics = Topics(self.settings.kafka, "source")
        for source in self.catalog.sources.values():
            topics.check_readable(source.topic)
        return True

    def _generation(self, board: StatusBoard) -> Generation:
        """The live one if it still means the same and its checkpoints are here, else a new one that takes over from it."""
        live = board.live()
        if live is not None:
            known = self._of(draw(live.generation, self.catalog, self.settings))
            if known.blueprint.fingerprint == live.fingerprint and known.spans_file.exists():
                log.info("[orchestrator] generation %d goes on", live.generation)
                known.known_out_of_history = live.out_of_history
                known.start()
                return known
        return self._built(self._next(board), board)

    def _next(self, board: StatusBoard) -> Generation:
        return self._of(draw(board.next_number(), self.catalog, self.settings))

    def _of(self, blueprint: Blueprint) -> Generation:
        return Generation(blueprint, self.session, self.settings, self.changelog)

    def _clean_up(self, board: StatusBoard) -> None:
        """Removes what an earlier run left behind: half built, or not yet retired."""
        for status in [status for status in board.generations.values() if status.state in UNFINISHED]:
            self._retire(status.generation, board)

    def _retire(self, number: int, board: StatusBoard) -> None:
        remove_generation(number, Topics(self.changelog), self.settings)
        board.announce(msgspec.structs.replace(board.generations[number], state="retired"))
        log.info("[orchestrator] generation %d is retired", number)

    def _built(self, generation: Generation, board: StatusBoard) -> Generation:
        blueprint = generation.blueprint
        log.info("[orchestrator] generation %d is being built", blueprint.number)
        board.announce(blueprint.status("building"))
        try:
            reserve(self.session, generation.slots(), 0, f"generation {blueprint.number}")
            board.announce(blueprint.status("hydrating"))
            generation.build(lambda progress: self._tell(blueprint, board, progress))
            generation.start()
            generation.await_marks(self.stop.is_set)
        except (PySparkException, TablecastError) as error:
            generation.remove()
            if isinstance(error, SparkUnusable):
                raise
            reason = str(error).strip().splitlines()[0][:500]
            board.announce(blueprint.status("failed", reason))
            raise GenerationFailed(blueprint.number, reason) from error
        if self.stop.is_set():
            generation.stop()
            raise GenerationFailed(blueprint.number, "the orchestrator was stopped before it was filled")
        self._promote(generation, board)
        return generation

    def _tell(self, blueprint: Blueprint, board: StatusBoard, progress: Progress) -> None:
        log.info("[orchestrator] generation %d: filling %s", blueprint.number, progress)
        board.announce(msgspec.structs.replace(board.generations[blueprint.number], progress=progress))

    def _promote(self, generation: Generation, board: StatusBoard) -> None:
        old = board.live()
        board.announce(msgspec.structs.replace(generation.blueprint.status("live"), out_of_history=generation.out_of_history))
        if old is not None:
            board.announce(msgspec.structs.replace(old, state="lingering"))
            self.lingering[old.generation] = time.monotonic() + self.settings.pipeline.linger_seconds
        topics = " ".join(f"{name}={source.topic!r}" for name, source in self.catalog.sources.items())
        log.info("[orchestrator] topics set %s", topics)

    def _keep_running(self, generation: Generation, board: StatusBoard) -> Generation:
        """Returns the generation that runs in the end: one whose records were lost to retention is replaced by a new one."""
        while not self.stop.wait(POLL_SECONDS):
            for number in [number for number, due in self.lingering.items() if due <= time.monotonic()]:
                del self.lingering[number]
                self._retire(number, board)
            self._tend(generation, board)
            if generation.lost:
                log.error("[orchestrator] generation %d cannot go on and is built anew", generation.blueprint.number)
                generation.stop()
                generation = patiently(lambda: self._built(self._next(board), board), self.stop) or generation
                self.live = generation
        return generation

    def _tend(self, generation: Generation, board: StatusBoard) -> None:
        """Keeps its queries running, and the status true."""
        for reason in generation.tend():
            log.error("[orchestrator] generation %d: a query failed and is started again: %s", generation.blueprint.number, reason)
        known = board.generations[generation.blueprint.number]
        now = msgspec.structs.replace(known, error=generation.failing(), out_of_history=generation.out_of_history)
        if now != known:
            board.announce(now)
