"""The status topic as the orchestrator sees it: what was said before, and a place to say the next thing."""

import contextlib
import logging
import threading
from collections.abc import Sequence

import msgspec

from tablecast.errors import TablecastError
from tablecast.kafka.admin import Topics
from tablecast.kafka.names import LASTING, servers_topic, status_topic
from tablecast.kafka.standing import copied_of, standing, standing_statuses, statuses_of
from tablecast.kafka.status import PULSE_KEY, Copied, GenerationStatus, Pulse, newest_live
from tablecast.orchestrator.ledger import Ledger, Record
from tablecast.settings import KafkaSettings, Settings

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
REMEMBERED = 20
"""Generations that are over and still stand on the topic: who looks at the status sees what became of them."""
OVER = ("retired", "failed")


class StatusBoard:
    """To be read by anybody; written only after lead(). Every announcement is on the broker before announce() returns."""

    def __init__(self, kafka: KafkaSettings, settings: Settings) -> None:
        self.kafka = kafka
        self.topic = status_topic(settings.changelog.prefix)
        self.leader: str | None = None
        self.copied: Copied | None = None
        """How far the user's control topic had been copied when the lead was taken."""
        self._ledger: Ledger | None = None
        topics = Topics(kafka)
        for topic in (self.topic, servers_topic(settings.changelog.prefix)):
            topics.ensure(topic, 1, LASTING, settings.changelog.replication)
        self.generations = standing_statuses(kafka, self.topic)

    def lead(self, leader: str, stop: threading.Event) -> None:
        """From now on nobody else can write."""
        self._ledger = Ledger(self.kafka, f"{self.topic}.leader", stop)
        self.leader = leader
        records = list(standing(self.kafka, self.topic))
        self.generations, self.copied = statuses_of(records), copied_of(records)

    @property
    def ledger(self) -> Ledger:
        if self._ledger is None:
            raise ValueError("only the orchestrator that leads may write")
        return self._ledger

    def live(self) -> GenerationStatus | None:
        return newest_live(self.generations.values())

    def next_number(self) -> int:
        return max(self.generations, default=0) + 1

    def announce(self, *statuses: GenerationStatus, beside: Sequence[Record] = ()) -> None:
        """All at once, together with what is written `beside` them."""
        known = self.generations | {status.generation: status for status in statuses}
        forgotten = _forgotten(known)
        records = [Record(self.topic, status.key(), status.encode()) for status in statuses if status.generation not in forgotten]
        records += [Record(self.topic, str(number).encode(), None) for number in forgotten]
        self.ledger.write([*records, *beside])
        for status in statuses:
            _log(status, self.generations.get(status.generation))
        self.generations = {number: status for number, status in known.items() if number not in forgotten}

    def beat(self, pulse: Pulse) -> None:
        """A pulse that does not arrive says enough."""
        pulse = msgspec.structs.replace(pulse, leader=self.leader)
        with contextlib.suppress(TablecastError):
            self.ledger.write([Record(self.topic, PULSE_KEY, pulse.encode())], BEAT_SECONDS)

    def give_up_lead(self) -> None:
        """Who waits need not wait any longer."""
        self.leader = None
        self.beat(Pulse())


def _log(status: GenerationStatus, before: GenerationStatus | None) -> None:
    """Every step from one state to another, once it stands on the topic."""
    if before is not None and before.state == status.state:
        return
    told = f": {status.error}" if status.error is not None else ""
    log.log(
        logging.ERROR if status.state == "failed" else logging.INFO, "[orchestrator] generation %d is %s%s", status.generation, status.state, told
    )


def _forgotten(known: dict[int, GenerationStatus]) -> list[int]:
    over = sorted(number for number, status in known.items() if status.state in OVER)
    return over[: max(0, len(over) - REMEMBERED)]
