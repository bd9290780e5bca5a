"""The answers to control messages: the table control_raw."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Message

from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.kafka.control import CONTROL_ROWS, CONTROL_TABLE, ID_HEADER, MOST_ID, PLACE_HEADER, Verdict, header
from tablecast.kafka.names import system_changelog
from tablecast.orchestrator.ledger import Record
from tablecast.orchestrator.system_tables import VersionClock, encoded, timestamp_cell

SHOWN_TEXT = 4096
LAST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999: a producer may give its message any time."""
LOST = "the control topic was deleted before this message had its turn, expected it to stay: send the message again"

Place = tuple[int, int]
"""Partition and offset on our control topic."""
NOWHERE: Place = (-1, -1)
"""On one that is gone."""


@dataclass(frozen=True)
class Letter:
    """A control message as it came."""

    place: Place
    id: str
    received_ms: int
    value: bytes | None

    @property
    def text(self) -> str:
        return (self.value or b"").decode(errors="replace")[:SHOWN_TEXT]

    def shortened(self) -> "Letter":
        """The same without what nobody is told of it: many may wait for long, and each may be large."""
        return replace(self, value=self.value[: 4 * SHOWN_TEXT] if self.value is not None else None)


@dataclass(frozen=True)
class Answer:
    letter: Letter
    verdict: Verdict
    reason: str | None = None
    generation: int | None = None


def letter_of(message: Message) -> Letter:
    place = (message.partition() or 0, message.offset() or 0)
    given = (header(message, ID_HEADER) or b"").decode(errors="replace").strip()[:MOST_ID]
    return Letter(place, given or _told(place), min(max(0, message.timestamp()[1]), LAST_MS), message.value())


def _told(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


class Verdicts:
    """Remembers every row of control_raw that stands, and says what to write for the next ones."""

    def __init__(self, prefix: str, clock: VersionClock, control: str) -> None:
        """`control` is the id of our control topic."""
        self._topic = system_changelog(prefix, CONTROL_TABLE)
        self._clock = clock
        self._control = control
        self._rows: dict[str, tuple[Place, Verdict]] = {}
        self._answered: set[Place] = set()
        self._versions: dict[str, str] = {}

    def recall(self, messages: Iterable[Message]) -> list[Record]:
        """Takes in what stands on the changelog. What is to be written then: the verdict of those that waited on a control topic that is gone."""
        lost: dict[str, Message] = {}
        for message in messages:
            row_id, place, value = (message.key() or b"").decode(), header(message, PLACE_HEADER), message.value()
            self._clock.saw(message)
            self._forget(row_id)
            lost.pop(row_id, None)
            if value is None or place is None:
                continue
            verdict, (told, _, control) = json.loads(value)["verdict"], place.decode().partition("@")
            partition, _, offset = told.partition("-")
            self._versions[row_id] = (header(message, VERSION_HEADER) or b"").partition(b"|")[0].decode()
            if control in ("", self._control):
                self._note(row_id, (int(partition), int(offset)), verdict)
            else:
                self._note(row_id, NOWHERE, "rejected")
                lost |= {row_id: message} if verdict == "pending" else {}
        return [self._lost(row_id, message) for row_id, message in lost.items()]

    def called(self, letter: Letter) -> Letter:
        """The letter by its own id, or by its place where another one has that id: what has two rows has two verdicts."""
        place, _ = self._rows.setdefault(letter.id, (letter.place, "pending"))
        return letter if place == letter.place else replace(letter, id=_told(letter.place))

    def answered(self, place: Place) -> bool:
        """Whether a message there has its verdict: it is not looked at again after a restart."""
        return place in self._answered

    def next_places(self) -> dict[int, int]:
        """Partition to the offset of the first message that has no verdict, for the partitions that have been heard of."""
        waiting: dict[int, int] = {}
        after: dict[int, int] = {}
        for (partition, offset), verdict in self._here():
            after[partition] = max(after.get(partition, 0), offset + 1)
            if verdict == "pending":
                waiting[partition] = min(waiting.get(partition, offset), offset)
        return after | waiting

    def first_places(self) -> dict[int, int]:
        """Partition to the offset of the oldest message that has a row: nobody needs what stands before it."""
        first: dict[int, int] = {}
        for (partition, offset), _ in self._here():
            first[partition] = min(first.get(partition, offset), offset)
        return first

    def records(self, answers: Iterable[Answer]) -> list[Record]:
        """What tells these answers, and forgets the oldest rows beyond the bound. To be written by the caller, all or none."""
        found = [self._record(answer) for answer in answers]
        return found + self._trimmed()

    def _record(self, answer: Answer) -> Record:
        letter = answer.letter
        self._note(letter.id, letter.place, answer.verdict)
        order = f"{letter.received_ms}:{letter.place[0]}:{letter.place[1]}"
        self._versions[letter.id] = order
        cells: dict[str, Any] = {
            "id": letter.id,
            "received": timestamp_cell(datetime.fromtimestamp(letter.received_ms / 1000, UTC)),
            "text": letter.text,
            "verdict": answer.verdict,
            "reason": answer.reason,
            "generation": None if answer.generation is None else str(answer.generation),
        }
        headers = ((VERSION_HEADER, self._version(order)), (PLACE_HEADER, f"{_told(letter.place)}@{self._control}".encode()))
        return Record(self._topic, letter.id.encode(), encoded(cells), headers)

    def _lost(self, row_id: str, message: Message) -> Record:
        cells = json.loads(message.value() or b"") | {"verdict": "rejected", "reason": LOST}
        headers = ((VERSION_HEADER, self._version(self._versions[row_id])), (PLACE_HEADER, header(message, PLACE_HEADER) or b""))
        return Record(self._topic, row_id.encode(), encoded(cells), headers)

    def _here(self) -> Iterable[tuple[Place, Verdict]]:
        """Those whose message may still stand on the control topic."""
        return (row for row in self._rows.values() if row[0] != NOWHERE)

    def _note(self, row_id: str, place: Place, verdict: Verdict) -> None:
        self._forget(row_id)
        self._rows[row_id] = (place, verdict)
        if verdict != "pending":
            self._answered.add(place)

    def _forget(self, row_id: str) -> None:
        place, _ = self._rows.pop(row_id, (NOWHERE, "rejected"))
        self._answered.discard(place)

    def _version(self, order: str) -> bytes:
        return f"{order}|{self._clock.next()}:0:0".encode()

    def _trimmed(self) -> list[Record]:
        excess = len(self._rows) - CONTROL_ROWS
        if excess <= 0:
            return []
        # One that waits for its verdict must be found again after a restart.
        old = sorted((place, row_id) for row_id, (place, verdict) in self._rows.items() if verdict != "pending")[:excess]
        records = [Record(self._topic, row_id.encode(), None, ((VERSION_HEADER, self._version(self._versions[row_id])),)) for _, row_id in old]
        for _, row_id in old:
            self._forget(row_id)
            del self._versions[row_id]
        return records
