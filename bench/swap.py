"""What viewers notice when the topics behind the tables are swapped.

python -m bench.swap --json

Starts a stack of its own over two pairs of topics, to all of which messages keep coming, attaches viewers by WebSocket, and swaps to and fro by
control messages, the join type too. After each swap the messages pause and every row of every table is compared with the truth of its topics. The
last line of standard output is one JSON object: gap_ms_max is the longest silence of any viewer around a flip (those at a checkpoint are apart, in
pause_ms_max), swap_seconds from the control message to the new rows on the last viewer, tick_p99_ms from a message's send to its row on a viewer
while the next generation is filled; growth is what is held after the last swap more than after the fifth; kept says of each bar whether it was.
Ends with 0 only if nothing was blank, mixed, refused, cut off or wrong, and every bar was kept.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from bench.backlog import numbers_in
from bench.crowd import Crowd
from bench.exclusive import machine_to_ourselves
from bench.figures import Gap, Trip, commit_times, summary
from bench.footprint import growth, settled
from bench.latency import say
from bench.load import LOADS
from bench.pairs import PAIRS, Numbers, Record, Stream, Truth, send_backlog
from bench.stack import POLL_SECONDS, Stack, StackError, bare_stack, jars_folder
from tablecast.kafka.control import control_message, send_control
from tablecast.settings import Settings

SWAP_SECONDS = 120.0
EQUAL_SECONDS = 20.0
AROUND_SECONDS = 2.0
WARMUP_SECONDS = 5.0
LATE_SECONDS = 0.25
PAGE = 5000
FRAMES = 5000
"""The last ones of a viewer, more than come around a flip."""
JOINS = ("left", "inner")
NEVER = ("blank_frames", "mixed_frames", "viewer_errors", "reconnects", "rows_wrong")
MOST_GAP_MS = 250.0
MOST_TICK_MS = 250.0
MOST_SECONDS = 15.0
MANY_ROWS = 100_000
SETTLED_SWAPS = 5
"""After so many everything that is loaded once is there."""


@dataclass
class Swap:
    """One swap: when it was asked for and shown, and what was noticed."""

    generation: int
    asked: float
    shown: Sequence[float]
    states: Mapping[str, float]
    """When the generation came into each state."""
    gaps_ms: list[float] = field(default_factory=list)
    pauses_ms: list[float] = field(default_factory=list)
    wrong: int = 0
    trips: list[Trip] = field(default_factory=list)
    late: int = 0
    """Messages that were not seen when the flip came, though they were sent LATE_SECONDS before it."""
    worst: tuple[float, float] = (0.0, 0.0)
    """The longest gap, and how many seconds after the flip it began."""

    @property
    def seconds(self) -> float:
        return max(self.shown) - self.asked

    def steps(self) -> dict[str, float]:
        """How many seconds passed from the control message to each state, and to the new rows on the last viewer."""
        return {state: round(moment - self.asked, 2) for state, moment in {**self.states, "shown": max(self.shown)}.items()}


@dataclass
class Course:
    """Swaps one after the other, over a stack with viewers and a stream of messages."""

    stack: Stack
    crowd: Crowd
    stream: Stream
    records: list[Record]
    pair: int = 0
    join: str = "left"
    warmups: list[Swap] = field(default_factory=list)
    """Those before the measured ones: a Java that has never filled anything compiles while it fills."""
    swaps: list[Swap] = field(default_factory=list)
    settled: dict[str, int] = field(default_factory=dict)
    """What the stack held after SETTLED_SWAPS."""

    def run(self, warm: int, swaps: int, steady: float) -> None:
        self.stream.resume()
        time.sleep(WARMUP_SECONDS)
        for number in range(warm + swaps):
            swap = self._swap(1 - self.pair, JOINS[number // 2 % 2], steady)
            (self.warmups if number < warm else self.swaps).append(swap)
            gap = f"gap {1000 * swap.worst[0]:.0f} ms at {swap.worst[1]:+.2f} s, pause {max(swap.pauses_ms, default=0):.0f} ms"
            noticed = f"{gap}, {swap.late} late, {swap.wrong} rows wrong"
            say(f"swap {number + 1}: generation {swap.generation} {swap.steps()}, {noticed}")
            if number + 1 == SETTLED_SWAPS:
                self.settled = self._held()

    def _swap(self, pair: int, join: str, steady: float) -> Swap:
        before = self._generation()
        asked = time.time()
        send_control(self.stack.kafka, Settings().changelog.prefix, control_message(PAIRS[pair], join))
        states: dict[str, float] = {}
        swap = Swap(before + 1, asked, self._shown(before + 1, states), states)
        time.sleep(max(AROUND_SECONDS, steady))
        commits = commit_times(self.stack.state_dir)
        old, self.pair, self.join = self.pair, pair, join
        sent = self.stream.pause()
        self.records += sent
        self._silences(swap, commits)
        self._follow(old, sent, swap)
        swap.generation = self._generation()
        swap.wrong = self._wrong()
        self.stream.resume()
        return swap

    def _shown(self, generation: int, states: dict[str, float]) -> Sequence[float]:
        """When each viewer showed the generation. Notes meanwhile when it came into which state."""
        deadline = time.monotonic() + SWAP_SECONDS
        while len(shown := self.crowd.shown(generation)) < len(self.crowd.sights):
            status = self.stack.get("/api/status")
            for state in [known["state"] for known in status["generations"] if known["generation"] == generation]:
                states.setdefault(state, time.time())
            if time.monotonic() > deadline:
                told = json.dumps({**status, "generations": [{**known, "tables": None} for known in status["generations"][-3:]]})
                raise StackError(f"{len(shown)} viewers show generation {generation} after {SWAP_SECONDS:g} s: {told}", self.stack.log.lines)
            time.sleep(POLL_SECONDS)
        return shown

    def _silences(self, swap: Swap, commits: Sequence[float]) -> None:
        """Of each viewer around its flip. One in which a checkpoint was committed is a pause of the query, not of the swap."""
        for sight, flip in zip(self.crowd.sights, swap.shown, strict=True):
            gaps = gaps_around(flip, [moment for moment, _ in sight.frames[-FRAMES:]])
            apart = {gap for gap in gaps if any(gap.start <= commit <= gap.end for commit in commits)}
            swap.pauses_ms += [1000 * gap.seconds for gap in apart]
            swap.gaps_ms += [1000 * gap.seconds for gap in gaps if gap not in apart]
            swap.worst = max([swap.worst, *((gap.seconds, gap.start - flip) for gap in gaps if gap not in apart)])

    def _follow(self, pair: int, sent: Sequence[Record], swap: Swap) -> None:
        """The messages of the pair that was shown, from the control message to the first flip."""
        flip = min(swap.shown)
        for record in sent:
            if record.pair == pair and swap.asked <= record.sent < flip:
                seen = min((sight.numbers[record.number] for sight in self.crowd.sights if record.number in sight.numbers), default=flip)
                if seen < flip:
                    swap.trips.append(Trip(record.sent, seen))
                else:
                    swap.late += record.sent < flip - LATE_SECONDS

    def _wrong(self) -> int:
        """How many rows of all tables differ from the truth once nothing comes any more."""
        truth = Truth(self.pair, self.records)
        deadline = time.monotonic() + EQUAL_SECONDS
        wrong = 0
        for table in LOADS["all"].tables:
            expected = truth.rows(table, self.join)
            while (differing := _differing(self._rows(table), expected)) and time.monotonic() < deadline:
                time.sleep(0.2)
            if differing:
                say(f"{table}: {differing} of {len(expected)} rows are wrong")
            wrong += differing
        return wrong

    def _rows(self, table: str) -> list[Numbers]:
        rows: list[Numbers] = []
        while True:
            answer = self.stack.get(f"/api/tables/{table}/rows?offset={len(rows)}&size={PAGE}")
            # A window beyond the end is moved back to it.
            rows += [numbers_in(table, row) for row in answer["rows"][len(rows) - answer["offset"] :]]
            if len(rows) >= answer["total"]:
                return rows

    def growth(self) -> dict[str, int]:
        """What is held now more than after SETTLED_SWAPS; nothing is known after fewer."""
        return growth(self.settled, self._held()) if self.settled else {}

    def _held(self) -> dict[str, int]:
        """Once the generation before is retired."""
        deadline = time.monotonic() + SWAP_SECONDS
        while [known for known in self.stack.get("/api/status")["generations"] if known["state"] == "lingering"]:
            if time.monotonic() > deadline:
                raise StackError(f"a generation lingers for more than {SWAP_SECONDS:g} s", self.stack.log.lines)
            time.sleep(POLL_SECONDS)
        return settled(self.stack)

    def _generation(self) -> int:
        return int(self.stack.get("/api/status")["generation"])


def gaps_around(flip: float, moments: Sequence[float]) -> list[Gap]:
    """Between frames, as far as they touch AROUND_SECONDS before and after a flip; also the one that no frame has ended by then."""
    begin, end = flip - AROUND_SECONDS, flip + AROUND_SECONDS
    closed = [*moments, end] if moments and moments[-1] < end else moments
    return [Gap(*pair) for pair in pairwise(closed) if pair[1] >= begin and pair[0] <= end]


def _differing(found: Sequence[Numbers], expected: Sequence[Numbers]) -> int:
    return sum(one != other for one, other in zip_longest(found, expected))


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(given, settings, Path(folder))
    print(json.dumps(report) if given.json else "\n".join(f"{name:>24} {value}" for name, value in report.items()))
    return 0 if not any(report[name] for name in NEVER) and all(report["kept"].values()) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.swap", description="What viewers notice when topics are swapped.")
    parser.add_argument("--swaps", type=int, default=20, help="how many (default: %(default)s)")
    parser.add_argument("--warm", type=int, default=0, help="swaps before those that are measured (default: %(default)s)")
    parser.add_argument("--viewers", type=int, default=20, help="by WebSocket (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=200, help="messages a second, over all topics (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=2000, help="messages in each pair of topics before the first swap (default: %(default)s)")
    parser.add_argument("--steady", type=float, default=2.0, help="seconds from the new rows to the next swap, at least (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    return parser


def measure(given: argparse.Namespace, settings: Mapping[str, str], folder: Path) -> dict[str, Any]:
    keys = max(2000, given.rows // 10)
    say("starting broker, orchestrator and server")
    with bare_stack(folder, jars_folder(), {"pipeline.linger_seconds": 2, **settings}) as stack:
        stack.wait_for_broker()
        records = send_backlog(stack.kafka, given.rows, keys)
        stack.wait_until_open()
        stack.wait_for_rows("users_ui", given.rows // 2)
        stream = Stream(stack.kafka, given.rate, keys, len(records))
        try:
            with Crowd(stack.url, stack.key, given.viewers) as crowd:
                crowd.wait_for(1, SWAP_SECONDS)
                say("warming up")
                course = Course(stack, crowd, stream, records)
                course.run(given.warm, given.swaps, given.steady)
                grown = course.growth()
        finally:
            stream.stop()
    report = {**_report(course), "growth": grown, "rows": given.rows, "rate": given.rate, "settings": dict(settings)}
    return {**report, "kept": kept(report)}


def kept(report: Mapping[str, Any]) -> dict[str, bool]:
    """Whether each bar was kept. How long a swap takes has one only where there is as much to fill, by a Java that has filled before; what is held
    has one where it was looked at, and memory none: it is told."""
    bars = {"gap": report["gap_ms_max"] < MOST_GAP_MS, "ticks": report["tick_p99_ms"] < MOST_TICK_MS, "late": not report["ticks_late"]}
    if report["rows"] >= MANY_ROWS and report["warm"]:
        bars["seconds"] = report["swap_seconds_max"] < MOST_SECONDS
    if report["growth"]:
        bars["growth"] = not any(more > 0 for name, more in report["growth"].items() if not name.endswith("_mb"))
    return bars


def _report(course: Course) -> dict[str, Any]:
    swaps, sights = course.swaps, course.crowd.sights
    for sight in sights:
        for error in sight.errors[:3]:
            say(f"a viewer of {sight.table}: {error}")
    ticks = summary([trip for swap in swaps for trip in swap.trips])
    seconds = [swap.seconds for swap in swaps]
    return {
        "bench": "swap",
        "swaps": len(swaps),
        "swap_seconds": [round(swap.seconds, 2) for swap in swaps],
        "warm": [round(swap.seconds, 2) for swap in course.warmups],
        "viewers": len(sights),
        "gap_ms_max": round(max((gap for swap in swaps for gap in swap.gaps_ms), default=0.0), 1),
        "gap_ms_median": round(statistics.median(max(swap.gaps_ms, default=0.0) for swap in swaps), 1),
        "pause_ms_max": round(max((pause for swap in swaps for pause in swap.pauses_ms), default=0.0), 1),
        "blank_frames": sum(sight.blank for sight in sights),
        "mixed_frames": sum(sight.mixed for sight in sights),
        "viewer_errors": sum(len(sight.errors) for sight in sights),
        "reconnects": sum(max(0, sight.connects - 1) for sight in sights),
        "rows_wrong": sum(swap.wrong for swap in course.warmups + swaps),
        "swap_seconds_max": round(max(seconds), 2),
        "swap_seconds_median": round(statistics.median(seconds), 2),
        "steps": swaps[-1].steps(),
        "ticks_late": sum(swap.late for swap in swaps),
        **{f"tick_{name}": figure for name, figure in ticks.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
