"""Everything that runs, and the one voice in which it is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tablecast.catalog import Catalog
from tablecast.kafka.status import GenerationStatus
from tablecast.orchestrator.board import StatusBoard
from tablecast.orchestrator.build import Build
from tablecast.orchestrator.clerk import Clerk
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.lingering import Lingering
from tablecast.orchestrator.rebuilds import Rebuilds
from tablecast.orchestrator.system_tables import VersionClock, status_cells, status_record
from tablecast.orchestrator.verdicts import Answer


@dataclass(frozen=True)
class Wanted:
    """What must be built whether or not anybody asks for it: nothing that is live can go on."""

    catalog: Catalog
    requested: str | None


@dataclass
class Stage:
    """At most one generation is live, and at most one in the making."""

    board: StatusBoard
    clerk: Clerk
    clock: VersionClock
    prefix: str
    live: Generation | None = None
    build: Build | None = None
    lingering: list[Lingering] = field(default_factory=list)
    wanted: Wanted | None = None
    last_error: str | None = None
    waiting: str | None = None
    """Why what is wanted cannot be begun; it is tried again."""
    rebuilds: Rebuilds = field(default_factory=Rebuilds)

    def leaving(self) -> list[Generation]:
        """Those that still hold slots, and soon do not."""
        return [lingering.generation for lingering in self.lingering if lingering.runs and lingering.generation is not None]

    def running(self) -> list[Generation]:
        """Those that hold slots."""
        return [*self.leaving(), self.live] if self.live is not None else self.leaving()

    def failing(self) -> str | None:
        """Why rows may be old, as the pulse tells it; None while every query runs. Called by the heart too, in its thread."""
        live = self.live
        if live is not None:
            reason = live.crew.failing()
            return self.rebuilds.told(reason) if reason is not None and live.lost else reason
        shown = self.board.live()
        if shown is None:
            return self.waiting
        why = f" cannot be built now: {self.waiting}" if self.waiting is not None else " is being built in its place."
        return f"generation {shown.generation} cannot go on, and another{why}"

    def say(self, *statuses: GenerationStatus, answers: Sequence[Answer] = ()) -> None:
        """Announces these states, the verdicts that belong to them and the row of orchestrator_status, at one instant."""
        known = self.board.generations | {status.generation: status for status in statuses}
        row = status_record(self.prefix, status_cells(known, self.last_error), self.clock)
        self.board.announce(*statuses, beside=[*self.clerk.records(answers), row])

    def correct(self, number: int, **facts: object) -> None:
        """Says it again if a fact about a generation has changed."""
        known = self.board.generations[number]
        now = msgspec.structs.replace(known, **facts)
        if now != known:
            self.say(now)
