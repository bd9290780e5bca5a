"""How long a message takes from the producer's send to the row's arrival.

python -m bench.latency --table final_ui --json
python -m bench.latency --table final_ui --to websocket --load small --peer deephaven-10ms --json

Starts a stack of its own, warms it up, sends at a steady rate and notes when the row of each message is first seen, in the server's table or further
on. --table, --to and --repeats measure one after the other on the same stack; --peer adds other systems, each alone, on the same messages.
The last line of standard output is one JSON object; progress goes to standard error. `measured` has each table and place with all its repeats; what
stands beside it is the first of them. p50_ms to max_ms are of the steady state; messages that a checkpoint held up are in all_p99_ms, all_max_ms;
pause_ms is the longest time in which nothing arrived around a checkpoint (null: there was none). `kept` says of each painted table whether it kept
its bars. With --load small the rows that are shown in the end are compared with the truth, as those of peers are. Ends with 0 only if every message
of every measured span arrived, those of peers too, and no row was wrong.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.arrivals import PLACES, Clock
from bench.exclusive import machine_to_ourselves
from bench.figures import commit_times, curve, pauses, steady, summary
from bench.load import LOADS
from bench.peers.beside import PEERS
from bench.peers.beside import measured as beside
from bench.peers.deephaven_viewers import differing
from bench.sender import open_sources
from bench.shown import rows_shown
from bench.stack import Stack, bare_pipeline, bare_stack, jars_folder
from bench.subject import LAST_BY_USER, SUBJECTS, Subject
from bench.trips import Course, Span, joined, last_rows, taken

WINDOW = 300
WINDOW_SECONDS = 5
"""A window at the end holds what is sent in this time: rows that come after a pause must not pass it unseen."""
MOST_ROWS = 5000
INTERVAL = "20 seconds"
"""So that there are three checkpoints in a run. A pipeline that runs for long has fewer of them."""
SETTLE_SECONDS = 3.0
"""What is sent before a table and place that is not the first one: the stack is warm by then."""
AGAIN_SECONDS = 1.0
"""Before a further repeat of the same."""
MOST_PAINTED_MS = {"p50_ms": 60.0, "p99_ms": 150.0}
"""From the producer's send to the painted cell."""


@dataclass(frozen=True)
class Options:
    tables: tuple[str, ...]
    places: tuple[str, ...]
    load: str
    rate: float
    keys: int
    seconds: float
    warmup: float
    repeats: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    peer_seconds: float | None = None
    """A peer has no checkpoint to wait for, so it need not be measured as long as we are."""

    @property
    def for_peers(self) -> Span:
        return Span(LAST_BY_USER, self.rate, self.keys, self.peer_seconds or self.seconds, self.warmup)

    @property
    def comparable(self) -> bool:
        """Whether there is a server to ask for its rows, and a truth to compare them with."""
        return self.places != ("server",) and LOADS[self.load].keep_last

    def subject(self, table: str, place: str) -> Subject:
        subject = LAST_BY_USER if LOADS[self.load].keep_last else SUBJECTS[table]
        return subject.at_its_end() if place == "painted" else subject

    @property
    def window(self) -> int:
        return min(MOST_ROWS, max(WINDOW, round(self.rate * WINDOW_SECONDS)))

    @property
    def everywhere(self) -> list[tuple[str, str]]:
        return [(table, place) for table in self.tables for place in self.places]


@dataclass(frozen=True)
class Measured:
    """What was seen of one table at one place, span by span."""

    table: str
    place: str
    courses: list[Course]
    clock: Clock
    wrong: int | None
    """Rows that differed from the truth in the end; None where nothing was compared."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    options = options_of(parser, given)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(options, Path(folder) / "ours")
        peers = beside(given.peer, options.for_peers, Path(folder) / "peers", say)
        report |= {"peers": {name: compared(report, peer) for name, peer in peers.items()}}
    print(json.dumps(report) if given.json else "\n".join(f"{name:>20} {value}" for name, value in report.items()))
    return 1 if any(part["missing"] or part["wrong"] for part in (*report["measured"], *report["peers"].values())) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description="From the producer's send to the row's arrival.")
    parser.add_argument("--table", action="append", choices=SUBJECTS, help="may be given again (default: users_ui)")
    parser.add_argument("--to", action="append", choices=PLACES, help="where it arrives; may be given again (default: server)")
    parser.add_argument("--load", choices=LOADS, default="all", help="all: the default catalogue; small: accounts_ui and final_ui with keep last")
    parser.add_argument("--rate", type=float, default=200, help="messages a second (default: %(default)s)")
    parser.add_argument("--keys", type=int, default=1000, help="different users (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=70, help="how long is measured, each time (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=1, help="how often each table and place is measured (default: %(default)s)")
    parser.add_argument("--warmup", type=float, default=60, help="how long is sent before that (default: %(default)s)")
    parser.add_argument("--peer-seconds", type=float, help="how long a peer is measured (default: as long as we are)")
    parser.add_argument("--peer", action="append", choices=PEERS, default=[], help="another system, with --load small; may be given again")
    parser.add_argument("--checkpoint", default=INTERVAL, metavar="INTERVAL", help="from one checkpoint to the next (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    return parser


def options_of(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Options:
    tables, places = tuple(given.table or ["users_ui"]), tuple(given.to or ["server"])
    absent = sorted(set(tables) - set(LOADS[given.load].tables))
    if absent:
        parser.error(f"the load {given.load} has no {absent[0]}, only {', '.join(LOADS[given.load].tables)}")
    if given.peer and (tables, places, given.load) != (("final_ui",), ("websocket",), "small"):
        parser.error("peers show one join to a client: compare them with --table final_ui --to websocket --load small")
    settings = {"pipeline.checkpoint_interval": given.checkpoint, **dict(setting.split("=", 1) for setting in given.set)}
    lasting = {"seconds": given.seconds, "warmup": given.warmup, "repeats": given.repeats, "peer_seconds": given.peer_seconds}
    return Options(tables, places, given.load, given.rate, given.keys, settings=settings, **lasting)


def say(line: str) -> None:
    print(f"[bench] {line}", file=sys.stderr, flush=True)


def compared(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs, with how many times longer it took than ours: in the steady state, and with our pauses."""
    shares = {f"{name}_ratio": round(theirs[f"{name}_ms"] / ours[f"{name}_ms"], 2) for name in ("p50", "p99", "all_p99")}
    return {**theirs, **shares}


def measure(options: Options, state_dir: Path) -> dict[str, Any]:
    say("starting broker, orchestrator and server")
    state_dir.mkdir()
    (state_dir / "tablecast.toml").write_text(LOADS[options.load].catalogue)
    with _opened(options, state_dir) as stack:
        measured = list(_measured(options, stack))
        parts = [_figures(part, commit_times(state_dir)) for part in measured]
    return {
        "bench": "latency",
        "rate": options.rate,
        "seconds": options.seconds,
        "keys": options.keys,
        **parts[0],
        "measured": parts,
        "load": options.load,
        "window": options.window,
        "settings": options.settings,
        "kept": kept(parts),
    }


def kept(parts: Sequence[Mapping[str, Any]]) -> dict[str, bool]:
    """Of each table that was measured to the painted cell: whether it kept its bars."""
    painted = [part for part in parts if part["to"] == "painted"]
    return {f"{part['table']}_painted": all((part[name] or math.inf) < most for name, most in MOST_PAINTED_MS.items()) for part in painted}


@contextmanager
def _opened(options: Options, state_dir: Path) -> Iterator[Stack]:
    """A stack that has a row for each key. Where the server is the only place to arrive, it runs in this process, and there is no second one."""
    if options.places == ("server",):
        with opened_pipeline(state_dir, options.keys, options.settings) as stack:
            yield stack
        return
    with opened_stack(state_dir, options.keys, options.settings) as stack:
        yield stack


@contextmanager
def opened_stack(state_dir: Path, keys: int, settings: Mapping[str, str]) -> Iterator[Stack]:
    """Broker, orchestrator and server, which has a row for each key."""
    with bare_stack(state_dir, jars_folder(), settings) as stack:
        stack.wait_for_broker()
        open_sources(stack.kafka, keys)
        stack.wait_until_open()
        stack.wait_for_rows("final_ui", keys)
        yield stack


@contextmanager
def opened_pipeline(state_dir: Path, keys: int, settings: Mapping[str, str]) -> Iterator[Stack]:
    """Broker and orchestrator, with a generation that is live and has a row for each key."""
    with bare_pipeline(state_dir, jars_folder(), settings) as stack:
        open_sources(stack.kafka, keys)
        stack.wait_until_ready()
        yield stack


def _measured(options: Options, stack: Stack) -> Iterator[Measured]:
    """Each table at each place, one after the other on the same stack, of which only the first has to warm up."""
    first, settle, sent = 0, options.warmup, list[Span]()
    for table, place in options.everywhere:
        subject, courses = options.subject(table, place), []
        with PLACES[place](stack, subject, options.window) as arrivals:
            for _ in range(options.repeats):
                say(f"{table} to {place}, {options.rate:g} messages a second: {settle:g} s to warm up, {options.seconds:g} s measured")
                sent.append(span := Span(subject, options.rate, options.keys, options.seconds, settle, first))
                courses.append(taken(stack.kafka, span, arrivals, say))
                # Sources alternate, so a number means the same source in every span.
                first, settle = span.numbers.stop + span.numbers.stop % 2, AGAIN_SECONDS
            settle = SETTLE_SECONDS
            wrong = differing(rows_shown(stack, table), last_rows(*sent)) if options.comparable and table == "final_ui" else None
            yield Measured(table, place, courses, arrivals.clock(), wrong)


def _figures(measured: Measured, commits: Sequence[float]) -> dict[str, Any]:
    """Of all spans together, with those of each span beside them."""
    whole = joined(measured.courses)
    gaps = [gap for course in measured.courses for gap in pauses(course.trips, commits)]
    calm, everything = steady(whole.trips, gaps), summary(whole.trips)
    return {
        "table": measured.table,
        "to": measured.place,
        **summary(calm),
        "pause_ms": round(1000 * max(gap.seconds for gap in gaps), 1) if gaps else None,
        "pauses": len(gaps),
        "all_n": everything["n"],
        "all_p99_ms": everything["p99_ms"],
        "all_max_ms": everything["max_ms"],
        "missing": len(whole.missing),
        "wrong": measured.wrong,
        "replaced": whole.replaced,
        "clock_offset_ms": round(measured.clock.offset_ms, 3),
        "clock_error_ms": round(measured.clock.error_ms, 3),
        "repeats": [summary(steady(course.trips, gaps)) for course in measured.courses],
        "curve": curve(calm),
        "all_curve": curve(whole.trips),
    }


if __name__ == "__main__":
    sys.exit(main())
