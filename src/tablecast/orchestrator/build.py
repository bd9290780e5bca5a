"""A generation in the making, beside the one that is live."""

import logging
import os
import threading
import time
from collections.abc import Sequence

from tablecast.errors import SparkUnusable, TablecastError
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.status import Progress, State
from tablecast.orchestrator.agenda import Asked
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.patience import patiently
from tablecast.orchestrator.reasons import reason_of
from tablecast.orchestrator.task import Task
from tablecast.pipeline.session import is_local
from tablecast.pipeline.slots import reserve

log = logging.getLogger(__name__)

UP_SECONDS = 10.0
POLL_SECONDS = 0.1


class Build:
    """Runs in a thread of its own, and says by plain attributes how far it is: who started it looks at them, and announces.

    It leaves no trace before `announced` is set. Until then its number may be another leader's too, who has said so while this one was paused:
    only whose announcement the broker took owns the number, and with it the topics and the folder of that name.
    """

    def __init__(
        self, generation: Generation, asked: Asked | None, live: Generation | None, leaving: Sequence[Generation], stop: threading.Event
    ) -> None:
        """`live` runs meanwhile and holds its slots; those that are `leaving` hold theirs a little longer."""
        self.generation = generation
        self.asked = asked
        """The control message that wants it; None if it is the configuration, or one that cannot go on."""
        self.limited = asked is not None
        """Whether it must be ready in time: a message that comes later and wants the same does not cut short what was begun without one."""
        self.state: State | None = None
        """None while its sources are looked at: nobody needs to hear of it before."""
        self.progress: Progress | None = None
        self.ends: dict[str, int] = {}
        """Up to where a server must read each changelog, once it is ready."""
        self.seconds = 0.0
        self.ready = False
        """It is whole, and can no longer be given up."""
        self.given_up: str | None = None
        """Why it was told to end; None while it was not."""
        self.superseded = False
        self.announced = threading.Event()
        """To be set once `building` stands on the status topic."""
        self._verdict = threading.Lock()
        self._live = (live,) if live is not None else ()
        self._leaving = tuple(leaving)
        self._stop = stop
        self._started = time.monotonic()
        self._task: Task[None] = Task(f"build of generation {generation.blueprint.number}", self._run)

    @property
    def done(self) -> bool:
        return self._task.done

    @property
    def error(self) -> Exception | None:
        return self._task.error

    @property
    def reason(self) -> str:
        """Why it has failed."""
        return self.given_up or reason_of(self.error)

    @property
    def age(self) -> float:
        return time.monotonic() - self._started

    def give_up(self, reason: str, superseded: bool = False) -> bool:
        """It ends soon, without a trace; False if it is ready already, and will be live. May be called again."""
        with self._verdict:
            if self.ready:
                return False
            if self.given_up is None:
                self.given_up, self.superseded = reason, superseded
            self.generation.abandon()
            return True

    def join(self) -> None:
        while not self.done:
            self.generation.abandon()
            self._task.join(0.2)

    def _run(self) -> None:
        try:
            self._make()
            with self._verdict:
                self.generation.go_on()
                self.ready = True
        except BaseException:
            self._remove()
            raise

    def _make(self) -> None:
        generation = self.generation
        self._check_sources()
        self.state = "building"
        self._await_slots()
        while not self.announced.wait(POLL_SECONDS):
            generation.go_on()
        self.state = "hydrating"
        generation.prepare()
        generation.fill(self._tell, self._tasks())
        # Not before: of a row that is written twice, compaction keeps the last one, and that must not be the older state that a fill knows.
        generation.start()
        generation.await_marks()
        self.ends = patiently(generation.topics.end_offsets, generation.abandoned) or {}
        self.seconds = time.monotonic() - self._started

    def _check_sources(self) -> None:
        kafka = self.generation.settings.kafka
        wait_until_up(kafka, UP_SECONDS, "source", lambda: self.given_up is not None)
        topics = Topics(kafka, "source")
        for source in self.generation.blueprint.catalog.sources.values():
            topics.check_readable(source.topic)

    def _await_slots(self) -> None:
        """SparkUnusable if there are too few of them beside what is live; those of who is leaving are waited for."""
        while True:
            leaving = [other for other in self._leaving if other.crew.held()]
            try:
                return check_slots(self.generation, (*leaving, *self._live))
            except SparkUnusable:
                if not leaving:
                    raise
            self.generation.abandoned.wait(POLL_SECONDS)
            self.generation.go_on()

    def _tasks(self) -> int | None:
        """Of a machine that others run on too, half the cores: what is live must not wait for what is not."""
        return max(1, (os.cpu_count() or 1) // 2) if self._live and is_local(self.generation.settings.pipeline) else None

    def _tell(self, progress: Progress) -> None:
        self.progress = progress

    def _remove(self) -> None:
        """Whole, however long the broker is away; who is stopped meanwhile leaves the rest to the next start. Also when the lead is lost: a
        number that was announced is never given to another."""
        if not self.announced.is_set():
            return
        try:
            patiently(self.generation.remove, self._stop)
        except Exception:
            log.exception("[orchestrator] generation %d could not be removed whole", self.generation.blueprint.number)


def check_slots(generation: Generation, beside: Sequence[Generation]) -> None:
    """Raises SparkUnusable unless it can have its slots while those `beside` it hold theirs."""
    held = 0
    for other in beside:
        try:
            held += other.held_slots()
        except TablecastError as error:
            # Its topic may be gone, which is a reason to swap and none against it.
            log.warning("[orchestrator] generation %d: its slots are not counted: %s", other.blueprint.number, error)
    reserve(generation.session, generation.slots(), held, f"generation {generation.blueprint.number}")
