"""Viewers with Deephaven's own JavaScript client: what they saw, and when, by this machine's clock."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.arrivals import Clock, ForeignClock
from bench.backlog import numbers_in
from bench.peers.asked import Asked
from bench.peers.environment import NODE
from bench.trips import Rows

PROGRAM = Path(__file__).parent / "deephaven_viewer.mjs"
AT_MOST = 50
"""Viewers in one process: a person has a computer of his own, so no viewer is to wait for the others' share of one thread."""
OPEN_SECONDS = 60.0
GRACE_SECONDS = 30.0
ASK_SECONDS = 60.0


@dataclass(frozen=True)
class Sight:
    """What one viewer has seen since it came: when each update came, how many rows it shows now, the sum of their numbers, when each message came."""

    updates: Sequence[float]
    rows: int
    sum: int
    lost: bool
    seen: Mapping[int, float]


@dataclass(frozen=True)
class State:
    """Where viewers stand: messages that each of them has seen, and the newest number that each of them has passed."""

    seen: int
    newest: int


def read_sights(lines: str, offset_ms: float) -> list[Sight]:
    """Of the lines of a viewer program, whose clock is so far behind ours."""
    return [_sight(json.loads(line), offset_ms) for line in lines.splitlines()]


def _sight(told: Mapping[str, object], offset_ms: float) -> Sight:
    numbers, times, updates = told["numbers"], told["times"], told["updates"]
    assert isinstance(numbers, list)
    assert isinstance(times, list)
    assert isinstance(updates, list)
    seen = {number: (at + offset_ms) / 1000 for number, at in zip(numbers, times, strict=True)}
    return Sight([(at + offset_ms) / 1000 for at in updates], int(str(told["rows"])), int(str(told["sum"])), bool(told["lost"]), seen)


def read_rows(table: str, lines: str) -> Rows:
    """Of lines with a row each. A row's left side is of the table's own topic, as in bench.backlog."""
    rows = [json.loads(line) for line in lines.splitlines()]
    return {row["userId"]: numbers_in(table, row) for row in rows}


def differing(rows: Mapping[str, tuple[int, int | None]], expected: Mapping[str, tuple[int, int | None]]) -> int:
    """Rows that are missing, wrong or too many."""
    return sum(rows.get(key) != expected.get(key) for key in rows.keys() | expected.keys())


class Viewers:
    """`Arrivals` of the first of them; `sights` has those of each."""

    def __init__(self, programs: Sequence[Asked], folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._clocks = [ForeignClock(lambda program=program: float(program.ask({"do": "now"}, ASK_SECONDS)["now"])) for program in programs]  # type: ignore[misc]

    @property
    def opened(self) -> int:
        """How many show the table."""
        return sum(int(program.greeting["opened"]) for program in self._programs)

    @property
    def processes(self) -> list[psutil.Process]:
        return [psutil.Process(program.process.pid) for program in self._programs]

    def count(self) -> int:
        return self._state(self._programs[0]).seen

    def first_seen(self) -> dict[int, float]:
        return dict(self._sights(0)[0].seen)

    def clock(self) -> Clock:
        return self._clocks[0].compared()

    def rows(self) -> Rows:
        """All that the first viewer shows."""
        return read_rows("final_ui", self._written(self._programs[0], "rows"))

    def sights(self) -> list[Sight]:
        return [sight for place in range(len(self._programs)) for sight in self._sights(place)]

    def state(self) -> State:
        """Of all."""
        states = [self._state(program) for program in self._programs]
        return State(min(state.seen for state in states), min(state.newest for state in states))

    def _state(self, program: Asked) -> State:
        return State(**program.ask({"do": "state"}, ASK_SECONDS))

    def _sights(self, place: int) -> list[Sight]:
        return read_sights(self._written(self._programs[place], "tell"), self._clocks[place].compared().offset_ms)

    def _written(self, program: Asked, what: str) -> str:
        file = self._folder / f"{what}.jsonl"
        program.ask({"do": what, "file": str(file)}, ASK_SECONDS)
        return file.read_text()


@contextmanager
def viewing(url: str, client: Path, viewers: int, folder: Path) -> Iterator[Viewers]:
    """So many viewers, if so many could be opened; StackError if none of a process could."""
    shares = [min(AT_MOST, viewers - begun) for begun in range(0, viewers, AT_MOST)]
    with ExitStack() as stack:
        programs = []
        for place, share in enumerate(shares):
            store = folder / f"jsapi-{place}"
            command = [str(NODE), str(PROGRAM), str(client), url, str(share), str(OPEN_SECONDS), str(store)]
            programs.append(stack.enter_context(Asked(command, folder / f"viewers-{place}.log", OPEN_SECONDS + GRACE_SECONDS)))
        yield Viewers(programs, folder)
