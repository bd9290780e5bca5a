"""The swap: which generation is built next, and how it takes the place of the live one."""

import logging
import math
import threading
import time
from datetime import UTC, datetime

import msgspec
from pyspark.sql import SparkSession

from tablecast.catalog import Catalog
from tablecast.configuration import Configuration
from tablecast.errors import SparkUnusable
from tablecast.kafka.status import told_time
from tablecast.orchestrator.agenda import Asked
from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.blueprint import draw
from tablecast.orchestrator.build import Build
from tablecast.orchestrator.control import Rejection, Request, asked_for
from tablecast.orchestrator.examine import examine
from tablecast.orchestrator.generation import Generation
from tablecast.orchestrator.lingering import Lingering
from tablecast.orchestrator.stage import Stage, Wanted
from tablecast.orchestrator.task import Task
from tablecast.orchestrator.verdicts import Place
from tablecast.settings import KafkaSettings

log = logging.getLogger(__name__)

MOST_TRIES = 2
MOST_FILL_PAUSE_SECONDS = 600.0
"""Between two fills that nobody asked for, when each fails: what is wrong may be in their input, and then all that they do is in vain."""


class Swap:
    """One step a call, none of which waits for long. The live generation notices nothing until another is whole."""

    def __init__(self, stage: Stage, configuration: Configuration, changelog: KafkaSettings, session: SparkSession, stop: threading.Event) -> None:
        self.stage = stage
        self.catalog = configuration.catalog
        self.settings = configuration.settings
        self.changelog = changelog
        self.session = session
        self._examination: tuple[Asked, Task[Rejection | None]] | None = None
        self._accepted: Asked | None = None
        """Borne out by Kafka, and built as soon as nothing else is."""
        self._stop = stop
        self._tries: dict[Place, int] = {}
        self._backoff = Backoff()
        self._fill_backoff = _fill_backoff()
        self._due = 0.0
        self._told = ""

    def step(self) -> None:
        self._tend_build()
        self._examined()
        self._consider()
        self._begin()

    def close(self) -> None:
        """What was not promoted ends. One that was ready is left to who leads next: if the last word on it arrived, it is live."""
        build = self.stage.build
        if build is not None:
            build.join()
            if build.ready:
                build.generation.stop()

    def _consider(self) -> None:
        """Looks at the newest message that waits."""
        agenda, asked = self.stage.clerk.agenda, self.stage.clerk.agenda.candidate()
        if asked is None or asked is self._accepted or (self._examination is not None and self._examination[0] is asked):
            return
        if (build := self._building(asked)) is not None:
            build.asked = asked
            agenda.choose(asked)
        elif (live := self._showing(asked)) is not None:
            if self._give_up_build(asked):
                self.stage.clerk.answer(agenda.unchanged(asked, live.blueprint.number))
        elif self._examination is None:
            catalog = self._catalog(asked.request)
            self._examination = (asked, Task(f"examination of {asked.letter.id}", lambda: examine(catalog, self.settings.kafka)))

    def _building(self, asked: Asked) -> Build | None:
        """The build, if it is of what is asked for."""
        build = self.stage.build
        same = build is not None and build.given_up is None and asked.fingerprint == build.generation.blueprint.fingerprint
        return build if same else None

    def _showing(self, asked: Asked) -> Generation | None:
        """What is live, if it is what is asked for and can go on."""
        live = self.stage.live
        return live if live is not None and not live.lost and asked.fingerprint == live.blueprint.fingerprint else None

    def _examined(self) -> None:
        if self._examination is None or not self._examination[1].done:
            return
        (asked, task), self._examination = self._examination, None
        if asked not in self.stage.clerk.agenda.waiting:
            return
        if task.error is not None:
            self.stage.clerk.reject(asked, f"its topics could not be looked at: {task.error}")
        elif task.result is not None:
            self.stage.clerk.reject(asked, task.result.reason)
        elif self._building(asked) is None and self._showing(asked) is None and not self.stage.clerk.agenda.overtaken_by_build(asked):
            self._accepted = asked
            self._give_up_build(asked)

    def _give_up_build(self, newer: Asked) -> bool:
        """Whether nothing that is being built will be live: one that is ready already is promoted first, in the next step."""
        build = self.stage.build
        ended = build is None or (build.done and not build.ready)
        return ended or (build is not None and build.give_up(f"superseded by the message {newer.letter.id}", superseded=True))

    def _begin(self) -> None:
        """Builds what was accepted, else what is wanted anyway."""
        # While a newer message is looked at, what was accepted before it waits: if the newer one holds, it need not be built at all.
        if self.stage.build is not None or (self._accepted is not None and self._examination is not None):
            return
        accepted, self._accepted = self._accepted, None
        if accepted is not None and accepted in self.stage.clerk.agenda.waiting:
            self.stage.clerk.agenda.choose(accepted)
            self._build(Wanted(self._catalog(accepted.request), accepted.letter.id), accepted)
        elif self.stage.wanted is not None and time.monotonic() >= self._due:
            self._build(self.stage.wanted, None)

    def _build(self, wanted: Wanted, asked: Asked | None) -> None:
        blueprint = draw(self.stage.board.next_number(), wanted.catalog, self.settings, wanted.requested)
        generation = Generation(blueprint, self.session, self.settings, self.changelog)
        self.stage.build = Build(generation, asked, self.stage.live, self.stage.leaving(), self._stop)

    def _catalog(self, request: Request) -> Catalog:
        return asked_for(self.catalog, request, self.settings.control.joins)

    def _tend_build(self) -> None:
        build = self.stage.build
        if build is None:
            return
        limit = self.settings.control.fill_limit_seconds
        if build.done:
            self._announce(build)
            if build.ready:
                self._promote(build)
            else:
                self._fail(build)
            self.stage.build = None
        elif build.given_up is not None:
            build.give_up(build.given_up)
        elif build.limited and build.age > limit:
            build.give_up(f"it was not ready within {limit:g} s (control.fill_limit_seconds)")
        else:
            self._announce(build)

    def _announce(self, build: Build) -> None:
        """What it says of itself, where that is new."""
        blueprint, board = build.generation.blueprint, self.stage.board
        if build.state is None:
            return
        known = board.generations.get(blueprint.number)
        if known is None:
            self.stage.waiting = None
            self.stage.say(blueprint.status("building"))
            build.announced.set()
        elif known.state != build.state:
            self.stage.say(blueprint.status(build.state))
        elif build.progress is not None and build.progress != known.progress:
            log.info("[orchestrator] generation %d: filling %s", blueprint.number, build.progress)
            self.stage.say(msgspec.structs.replace(known, progress=build.progress))

    def _fail(self, build: Build) -> None:
        number, reason = build.generation.blueprint.number, build.reason
        if number in self.stage.board.generations:
            self._say_failed(build)
        elif reason != self._told and not build.superseded:
            self._told = reason
            log.warning("[orchestrator] waiting: %s", reason)
        if build.asked is None and not build.announced.is_set():
            self._wait(reason)
        if build.superseded or self._may_try_again(build):
            self.stage.clerk.agenda.choose(None)
        elif build.asked is not None:
            self.stage.clerk.reject(build.asked, f"generation {number} could not be built: {reason}")
        if build.asked is None:
            backoff = self._fill_backoff if build.announced.is_set() else self._backoff
            self._due = time.monotonic() + backoff.next(time.monotonic())
            if isinstance(build.error, SparkUnusable) and self.stage.live is None:
                raise build.error

    def _wait(self, reason: str) -> None:
        """What it waits for is told everywhere: in the log, by the pulse, and in orchestrator_status."""
        self.stage.waiting = reason
        if self.stage.last_error != reason:
            self.stage.last_error = reason
            self.stage.say()

    def _may_try_again(self, build: Build) -> bool:
        """A query or a write that failed may have met a broker that was just restarting: once more, and not more."""
        if build.asked is None or build.given_up is not None or isinstance(build.error, SparkUnusable):
            return False
        place = build.asked.letter.place
        self._tries[place] = self._tries.get(place, 0) + 1
        return self._tries[place] < MOST_TRIES

    def _say_failed(self, build: Build) -> None:
        blueprint, reason = build.generation.blueprint, build.reason
        if build.superseded:
            self.stage.say(blueprint.status("retired", reason))
            return
        self.stage.last_error = f"generation {blueprint.number}: {reason}"
        self.stage.say(blueprint.status("failed", reason))

    def _promote(self, build: Build) -> None:
        """All at one instant: the new one is live, the old one lingers, the message has its verdict."""
        stage, generation = self.stage, build.generation
        blueprint = generation.blueprint
        ready = msgspec.structs.replace(
            blueprint.status("ready"),
            ends=build.ends,
            out_of_history=generation.out_of_history,
            hydrated=round(build.seconds, 3),
        )
        stage.say(ready)
        live = msgspec.structs.replace(ready, state="live", changed=told_time(datetime.now(UTC)))
        old = [status for status in stage.board.generations.values() if status.state == "live"]
        stage.last_error = stage.waiting = None
        answers = stage.clerk.agenda.applied(build.asked, blueprint.number) if build.asked is not None else ()
        stage.say(live, *(msgspec.structs.replace(status, state="lingering", changed=live.changed) for status in old), answers=answers)
        for status in old:
            runs = stage.live is not None and stage.live.blueprint.number == status.generation
            stage.lingering.append(Lingering(status.generation, stage.live if runs else None, blueprint.number))
        stage.live, stage.wanted = generation, None
        if build.asked is not None:
            stage.rebuilds.forget()
        self._tries.clear()
        self._backoff, self._fill_backoff, self._told = Backoff(), _fill_backoff(), ""
        self._tell(build)

    def _tell(self, build: Build) -> None:
        blueprint = build.generation.blueprint
        log.info("[orchestrator] topics set %s", blueprint)
        if build.asked is not None:
            log.info("[orchestrator] applied control: %s as generation %d in %.1f s", blueprint, blueprint.number, build.seconds)


def _fill_backoff() -> Backoff:
    """However long a fill takes, its time is no calm while: only a promotion is."""
    return Backoff(MOST_FILL_PAUSE_SECONDS, math.inf)
