"""Keeps one generation live: builds it or goes on with it, restarts its queries when they fail, says so on the status topic."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec
from pyspark.sql import SparkSession

from tablecast.configuration import Configuration
from tablecast.errors import TablecastError, TopicMissing
from tablecast.jars import fetch
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.broker import wait_for_broker
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.status import GenerationStatus
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.board import StatusBoard
from tablecast.orchestrator.generation import Blueprint, Generation, draw
from tablecast.pipeline.session import start_session
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

POLL_SECONDS = 0.2
WAIT_SECONDS = 60.0

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
    def __init__(self, configuration: Configuration, changelog: KafkaSettings, session: SparkSession, stop: threading.Event) -> None:
        self.settings = configuration.settings
        self.catalog = configuration.catalog
        self.changelog = changelog
        self.session = session
        self.stop = stop

    def run(self) -> None:
        board = patiently(self._open_board, self.stop)
        if board is None or patiently(self._check_sources, self.stop) is None:
            return
        generation = self._generation(board)
        log.info("[orchestrator] ready")
        self._keep_running(generation, board)
        generation.stop()

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
        """The live one if it still means the same, else a new one that takes over from it."""
        live = board.live()
        number = live.generation if live is not None else board.next_number()
        blueprint = draw(number, self.catalog, self.settings)
        if live is not None and live.fingerprint == blueprint.fingerprint:
            log.info("[orchestrator] generation %d goes on", number)
            return self._started(blueprint)
        blueprint = draw(board.next_number(), self.catalog, self.settings)
        return self._built(blueprint, board)

    def _built(self, blueprint: Blueprint, board: StatusBoard) -> Generation:
        log.info("[orchestrator] generation %d is being built", blueprint.number)
        old = board.live()
        board.announce(blueprint.status("building"))
        generation = self._started(blueprint)
        board.announce(blueprint.status("live"))
        if old is not None:
            board.announce(_retired(old))
        topics = " ".join(f"{name}={source.topic!r}" for name, source in blueprint.catalog.sources.items())
        log.info("[orchestrator] topics set %s", topics)
        return generation

    def _started(self, blueprint: Blueprint) -> Generation:
        generation = Generation(blueprint, self.session, self.settings, self.changelog)
        generation.create_changelogs()
        generation.start()
        return generation

    def _keep_running(self, generation: Generation, board: StatusBoard) -> None:
        backoff = Backoff()
        while not self.stop.wait(POLL_SECONDS):
            reason = generation.failure()
            if reason is None:
                continue
            pause = backoff.next(time.monotonic())
            log.error("[orchestrator] generation %d failed, trying again in %.1f s: %s", generation.blueprint.number, pause, reason)
            board.announce(generation.blueprint.status("live", reason))
            generation.stop()
            if not self.stop.wait(pause):
                generation.start()


def _retired(status: GenerationStatus) -> GenerationStatus:
    return msgspec.structs.replace(status, state="retired")
