"""Keeps one generation live, and swaps it for another behind everybody's eyes when a control message asks for that.

            ┌─ clerk: control messages ──> swap: examination ──> build of the next one ──> promoted on the status topic
            │                         └──> rehearsal: dry runs, examined and answered
one loop ───┼─ live: its queries are kept running
            └─ lingering: the ones before it are removed
"""

import logging
import threading
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime

import msgspec
from pyspark.sql import SparkSession

from tablecast.configuration import Configuration
from tablecast.errors import LeadLost, TablecastError, TopicForbidden, TopicMissing
from tablecast.jars import fetch
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.broker import wait_for_broker
from tablecast.kafka.control import STATUS_TABLE
from tablecast.kafka.java_settings import java_properties, java_settings
from tablecast.kafka.names import system_changelog
from tablecast.kafka.standing import standing
from tablecast.kafka.status import COMING, GenerationStatus, told_time
from tablecast.orchestrator import spans
from tablecast.orchestrator.blueprint import draw, fingerprint
from tablecast.orchestrator.board import OVER, StatusBoard
from tablecast.orchestrator.clerk import Clerk
from tablecast.orchestrator.control import Request, asked_for, overlaid
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.heart import Heart
from tablecast.orchestrator.lasting import LastingTopics
from tablecast.orchestrator.lease import LeaseWatch
from tablecast.orchestrator.lingering import Lingering
from tablecast.orchestrator.patience import patiently
from tablecast.orchestrator.rehearsal import Rehearsal
from tablecast.orchestrator.removal import generations_with_remains, remove_generation
from tablecast.orchestrator.retirement import Servers
from tablecast.orchestrator.stage import Stage, Wanted
from tablecast.orchestrator.swap import Swap
from tablecast.orchestrator.system_tables import VersionClock, ensure_system_topics
from tablecast.pipeline.session import local_state_partitions, start_session
from tablecast.pipeline.slots import local_slots
from tablecast.settings import KafkaSettings, Settings

log = logging.getLogger(__name__)

POLL_SECONDS = 0.1
WAIT_SECONDS = 60.0
LOOK_SECONDS = 5.0
TELL_SECONDS = 1.0


def orchestrate(configuration: Configuration, stop: threading.Event) -> None:
    """Runs until `stop` is set. A Kafka that is away or a topic that is missing is waited for; it ends by itself only when another leads."""
    settings = configuration.settings
    changelog = settings.changelog.kafka or patiently(lambda: wait_for_broker(settings), stop)
    watch = patiently(lambda: watch_lease(settings, changelog, stop), stop) if changelog is not None else None
    if changelog is None or watch is None:
        return
    properties = java_properties(java_settings(settings.kafka, "consumer"), java_settings(changelog, "producer"))
    session = start_session(settings, fetch(settings, ("spark",)), properties, slots=_slots(configuration))
    log.info("[orchestrator] Spark %s is up", session.version)
    try:
        Orchestrator(configuration, changelog, session, stop, watch).run()
    finally:
        session.stop()


def _slots(configuration: Configuration) -> int:
    """Of a local session. Topics that are not there yet are waited for later, and are then refused if they have too many partitions."""
    partitions = {source.topic: 1 for source in configuration.catalog.sources.values()}
    try:
        wait_until_up(configuration.settings.kafka, LOOK_SECONDS, "source")
        topics = Topics(configuration.settings.kafka, "source")
        for topic in partitions:
            with suppress(TopicMissing, TopicForbidden):
                partitions[topic] = topics.partitions(topic)
    except TablecastError as error:
        log.warning("[orchestrator] waiting: %s", error)
    return local_slots(configuration.catalog, partitions, local_state_partitions(), configuration.settings.pipeline.twin)


def watch_lease(settings: Settings, changelog: KafkaSettings, stop: threading.Event) -> LeaseWatch:
    wait_until_up(changelog, WAIT_SECONDS, "changelog", stop.is_set)
    watch = LeaseWatch(changelog, StatusBoard(changelog, settings).topic)
    watch.start()
    return watch


class Orchestrator:
    """The one that leads does everything; others wait until it is gone."""

    def __init__(
        self, configuration: Configuration, changelog: KafkaSettings, session: SparkSession, stop: threading.Event, watch: LeaseWatch | None = None
    ) -> None:
        self.configuration = configuration
        self.settings = configuration.settings
        self.catalog = configuration.catalog
        self.changelog = changelog
        self.session = session
        self.stop = stop
        self.id = uuid.uuid4().hex
        self.stage: Stage | None = None
        self._watch = watch

    @property
    def live(self) -> Generation | None:
        return self.stage.live if self.stage is not None else None

    def run(self) -> None:
        """Until it is stopped; LeadLost once another one leads. When somebody has deleted topics of ours it begins anew."""
        while not self.stop.is_set():
            try:
                self._run_while_led()
            except LeadLost as error:
                log.error("[orchestrator] %s", error)
                raise
            except TopicMissing as error:
                log.error("[orchestrator] begins anew: %s", error)
            self._watch = self.stage = None

    def _run_while_led(self) -> None:
        """Until it is stopped, or there is nobody to lead any more: topics of ours are gone. TopicMissing where a write finds that out."""
        board = self._led()
        stage = patiently(lambda: self._set_up(board), self.stop) if board is not None else None
        if board is None or stage is None:
            return
        self.stage = stage
        heart = Heart(board, self._failing)
        heart.start()
        servers = Servers(self.changelog, self.settings.changelog.prefix)
        swap = Swap(stage, self.configuration, self.changelog, self.session, self.stop)
        rehearsal = Rehearsal(stage, self.configuration, self.changelog, self.session)
        try:
            self._run(stage, swap, rehearsal, servers)
        finally:
            swap.close()
            _end(stage)
            heart.stop()
            servers.close()
            board.give_up_lead()

    def _led(self) -> StatusBoard | None:
        """The board, once nobody else leads; None if stopped before."""
        watch = self._watch or patiently(lambda: watch_lease(self.settings, self.changelog, self.stop), self.stop)
        if watch is None:
            return None
        try:
            began, told = time.monotonic(), False
            while not watch.is_free():
                if self.stop.wait(POLL_SECONDS):
                    return None
                if not told and time.monotonic() - began >= TELL_SECONDS:
                    told = True
                    log.info("[orchestrator] waits: another one leads, %s", watch.lease.leader)
            return patiently(self._lead, self.stop)
        finally:
            watch.stop()

    def _lead(self) -> StatusBoard:
        board = StatusBoard(self.changelog, self.settings)
        board.lead(self.id, self.stop)
        return board

    def _set_up(self, board: StatusBoard) -> Stage:
        settings, clock = self.settings, VersionClock()
        ensure_system_topics(Topics(self.changelog), settings.changelog.prefix, settings.changelog.replication)
        # Else, on a machine whose clock is behind that of the last leader, the row of orchestrator_status would stand still for as long.
        for message in standing(self.changelog, system_changelog(settings.changelog.prefix, STATUS_TABLE)):
            clock.saw(message)
        self._clean_up(board)
        clerk = Clerk(settings, self.changelog, board, clock, self._fingerprint)
        stage = Stage(board, clerk, clock, settings.changelog.prefix)
        try:
            self._go_on(stage)
            # What the row said last may have been of a generation that was half built then.
            stage.say()
        except BaseException:
            _end(stage)
            raise
        return stage

    def _fingerprint(self, request: Request) -> str:
        return fingerprint(asked_for(self.catalog, request, self.settings.control.joins), self.settings)

    def _clean_up(self, board: StatusBoard) -> None:
        """Removes what an earlier run left half built, and what is left of generations that are over or unknown: an orchestrator elsewhere cannot
        remove our checkpoints, and who lost the status topic does not know of anything."""
        for status in [status for status in board.generations.values() if status.state in COMING]:
            self._remove(status.generation)
            board.announce(_retired(status))
            log.info("[orchestrator] generation %d was half built and is removed", status.generation)
        kept = {number for number, status in board.generations.items() if status.state not in OVER}
        for number in sorted(generations_with_remains(Topics(self.changelog), self.settings, self.session) - kept):
            self._remove(number)
            log.info("[orchestrator] generation %d is over, and what was left of it is removed", number)

    def _go_on(self, stage: Stage) -> None:
        """With the live one, if it still means the same and its checkpoints are here; else a new one takes over from it."""
        live = stage.board.live()
        applied = live is not None and live.requested is not None
        catalog = overlaid(self.catalog, live.topics, live.join) if live is not None and applied else self.catalog
        if live is None or not self._goes_on(live, stage, Wanted(catalog, live.requested)):
            stage.wanted = Wanted(catalog, live.requested if live is not None else None)
        for status in stage.board.generations.values():
            if status.state == "lingering" or (status.state == "live" and status is not live):
                stage.lingering.append(Lingering(status.generation, None, live.generation if live is not None else status.generation))

    def _goes_on(self, live: GenerationStatus, stage: Stage, wanted: Wanted) -> bool:
        blueprint = draw(live.generation, wanted.catalog, self.settings, wanted.requested)
        known = Generation(blueprint, self.session, self.settings, self.changelog)
        if blueprint.fingerprint != live.fingerprint or not spans.is_readable(known.folder):
            return False
        log.info("[orchestrator] generation %d goes on", live.generation)
        log.info("[orchestrator] topics set %s", blueprint)
        known.known_out_of_history = live.out_of_history
        known.start()
        stage.live = known
        stage.correct(live.generation, tables=blueprint.status("live").tables)
        return True

    def _run(self, stage: Stage, swap: Swap, rehearsal: Rehearsal, servers: Servers) -> None:
        told, lasting = False, LastingTopics(self.changelog, stage.prefix)
        while not self.stop.wait(POLL_SECONDS):
            if stage.board.ledger.lost is not None:
                raise stage.board.ledger.lost
            if lost := lasting.lost():
                log.error("[orchestrator] begins anew: topics of ours were deleted, or are others now: %s", ", ".join(lost))
                return
            stage.clerk.read()
            servers.listen()
            self._tend_live(stage)
            swap.step()
            rehearsal.step()
            self._tend_lingering(stage, servers)
            if stage.live is not None and not told:
                told = True
                log.info("[orchestrator] ready")

    def _tend_live(self, stage: Stage) -> None:
        """Keeps its queries running, and the status true. One that cannot go on is built anew; its rows stay until then."""
        live = stage.live
        if live is None:
            return
        number = live.blueprint.number
        for reason in live.crew.tend():
            log.error("[orchestrator] generation %d: a query failed and is started again: %s", number, reason)
        if live.lost and stage.wanted is None and not stage.rebuilds.spent:
            if stage.rebuilds.may_begin(time.monotonic()):
                log.error("[orchestrator] generation %d cannot go on and is built anew", number)
                stage.wanted = Wanted(live.blueprint.catalog, live.blueprint.requested)
            else:
                log.error("[orchestrator] generation %d cannot go on: %s", number, stage.failing())
        stage.correct(number, error=stage.failing() or live.crew.limping(), out_of_history=live.out_of_history)

    def _tend_lingering(self, stage: Stage, servers: Servers) -> None:
        for lingering in list(stage.lingering):
            if lingering.tend(servers, self.settings.pipeline.linger_seconds, self._remove):
                stage.lingering.remove(lingering)
                stage.say(_retired(stage.board.generations[lingering.number]))

    def _remove(self, number: int) -> None:
        remove_generation(number, Topics(self.changelog), self.settings, self.session)

    def _failing(self) -> str | None:
        """Called by the heart, in its thread."""
        return self.stage.failing() if self.stage is not None else None


def _end(stage: Stage) -> None:
    for generation in stage.running():
        generation.stop()
    stage.clerk.close()


def _retired(status: GenerationStatus) -> GenerationStatus:
    return msgspec.structs.replace(status, state="retired", changed=told_time(datetime.now(UTC)))
