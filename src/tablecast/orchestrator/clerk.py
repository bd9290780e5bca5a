"""Takes control messages in and answers each of them."""

import logging
import time
from collections.abc import Callable, Sequence

from confluent_kafka import TopicPartition

from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import AT_LEISURE, make_consumer
from tablecast.kafka.control import CONTROL_TABLE
from tablecast.kafka.names import TRIMMED, control_topic, system_changelog
from tablecast.kafka.standing import standing
from tablecast.orchestrator.agenda import MOST_WAITING, Agenda, Asked
from tablecast.orchestrator.board import StatusBoard
from tablecast.orchestrator.control import Rejection, Request, parse
from tablecast.orchestrator.copier import Copier
from tablecast.orchestrator.ledger import Record
from tablecast.orchestrator.system_tables import VersionClock
from tablecast.orchestrator.task import Task
from tablecast.orchestrator.verdicts import Answer, Letter, Verdicts, letter_of
from tablecast.settings import KafkaSettings, Settings

log = logging.getLogger(__name__)

BATCH = 5000
TRIM_SECONDS = 60.0
MOST_LOGGED = 5


class Clerk:
    """Reads our control topic; `agenda` is what waits, `dry_runs` what is only asked. Everything is called in one thread. A message stays on that
    topic as long as its row stays in control_raw."""

    def __init__(
        self, settings: Settings, kafka: KafkaSettings, board: StatusBoard, clock: VersionClock, fingerprint: Callable[[Request], str]
    ) -> None:
        self.agenda = Agenda()
        self.dry_runs: list[Asked] = []
        """Messages that only ask, oldest first. They have no turn on the agenda."""
        self._settings = settings
        self._kafka = kafka
        self._ledger = board.ledger
        self._fingerprint = fingerprint
        prefix = settings.changelog.prefix
        self._topic = control_topic(prefix)
        topics = Topics(kafka)
        topics.ensure(self._topic, 1, TRIMMED, settings.changelog.replication)
        ours = topics.find(self._topic)
        self._verdicts = Verdicts(prefix, clock, ours.id)
        if lost := self._verdicts.recall(standing(kafka, system_changelog(prefix, CONTROL_TABLE))):
            self._ledger.write(lost)
        begins, known = topics.begin_offsets(self._topic), self._verdicts.next_places()
        self._trimmed, self._trim_due = begins, time.monotonic() + TRIM_SECONDS
        self._trimming: Task[None] | None = None
        self._consumer = make_consumer(kafka, {"group.id": self._topic, "enable.auto.commit": False, **AT_LEISURE})
        places = {partition: max(begin, known.get(partition, 0)) for partition, begin in begins.items()}
        self._consumer.assign([TopicPartition(self._topic, partition, offset) for partition, offset in places.items()])
        self._copier = Copier(settings.kafka, settings.control.topic, prefix, ours, board.copied)
        self._copier.start()

    def read(self) -> None:
        """Takes what has come, refuses what is no request, and puts the rest on the agenda. Does not wait."""
        if copied := self._copier.taken():
            self._ledger.write(copied)
        messages = [message for message in self._consumer.consume(BATCH, 0) if message.error() is None]
        letters = [letter for letter in map(letter_of, messages) if not self._verdicts.answered(letter.place)]
        self.answer([*(self._first_answer(self._verdicts.called(letter)) for letter in letters), *self.agenda.overtaken()])
        self._trim()

    def answer(self, answers: Sequence[Answer]) -> None:
        if answers:
            self._ledger.write(self.records(answers))

    def records(self, answers: Sequence[Answer]) -> list[Record]:
        """What tells these answers, to be written by the caller together with what else belongs to them."""
        _log(answers)
        return self._verdicts.records(answers)

    def reject(self, asked: Asked, reason: str) -> None:
        self.answer(self.agenda.rejected(asked, Rejection(reason)))

    def close(self) -> None:
        self._copier.stop()
        self._consumer.close()

    def _first_answer(self, letter: Letter) -> Answer:
        request, letter = parse(letter.value, tuple(self._settings.sources)), letter.shortened()
        if isinstance(request, Rejection):
            return Answer(letter, "rejected", request.reason)
        asked = Asked(letter, request, self._fingerprint(request))
        if request.dry_run and len(self.dry_runs) >= MOST_WAITING:
            return Answer(letter, "rejected", f"{MOST_WAITING} dry runs wait already, expected fewer: ask again when they are answered")
        if request.dry_run:
            self.dry_runs.append(asked)
            return Answer(letter, "pending")
        return self.agenda.take(asked)

    def _trim(self) -> None:
        """Deletes the messages whose rows are gone from control_raw, now and then."""
        if time.monotonic() < self._trim_due or (self._trimming is not None and not self._trimming.done):
            return
        if self._trimming is not None and self._trimming.error is not None:
            log.warning("[orchestrator] %s could not be trimmed and grows until it can: %s", self._topic, self._trimming.error)
            self._trimmed = {}
        self._trimming, self._trim_due = None, time.monotonic() + TRIM_SECONDS
        first = self._verdicts.first_places()
        if any(offset > self._trimmed.get(partition, 0) for partition, offset in first.items()):
            self._trimmed = first
            self._trimming = Task("trim of the control topic", lambda: Topics(self._kafka).delete_records(self._topic, first))


def _log(answers: Sequence[Answer]) -> None:
    """A burst is not a flood: each verdict stands in control_raw anyway."""
    final = [answer for answer in answers if answer.verdict != "pending"]
    for answer in final[:MOST_LOGGED]:
        told = f": {answer.reason}" if answer.reason else ""
        log.info("[orchestrator] control message %s: %s%s", answer.letter.id, answer.verdict, told[:600])
    if len(final) > MOST_LOGGED:
        log.info("[orchestrator] and %d more, see control_raw", len(final) - MOST_LOGGED)
