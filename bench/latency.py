"""How long a message takes from the producer's send to the row's arrival.

python -m bench.latency --table final_ui --json

Starts a stack of its own, warms it up, sends at a steady rate and notes when the row of each message is first seen, in the server's table or further
on. The last line of standard output is one JSON object; progress goes to standard error. p50_ms to max_ms are of the steady state; messages that a
checkpoint held up are in all_p99_ms, all_max_ms; pause_ms is the longest time in which nothing arrived around a checkpoint (null: there was none in
the run). Ends with 0 only if every message of the measured span arrived.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bench.arrivals import PLACES, Arrivals, Clock
from bench.exclusive import machine_to_ourselves
from bench.figures import Trip, commit_times, pauses, steady, summary
from bench.sender import Schedule, Sender, send_users
from bench.stack import Stack, bare_pipeline, bare_stack, jars_folder
from bench.subject import SUBJECTS, Subject, random_keys
from tablecast.kafka.admin import Topics
from tablecast.settings import KafkaSettings

LATE_SECONDS = 30.0
POLL_SECONDS = 0.5
TELL_SECONDS = 5.0
WINDOW = 300
WINDOW_SECONDS = 5
"""A window at the end holds what is sent in this time: rows that come after a pause must not pass it unseen."""
MOST_ROWS = 5000
INTERVAL = "20 seconds"
"""So that there are three checkpoints in a run. A pipeline that runs for long has fewer of them."""


@dataclass(frozen=True)
class Options:
    table: str
    to: str
    rate: float
    keys: int
    seconds: float
    warmup: float
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> Subject:
        return SUBJECTS[self.table]

    @property
    def measured(self) -> range:
        return range(round(self.rate * self.warmup), round(self.rate * (self.warmup + self.seconds)))

    @property
    def window(self) -> int:
        return min(MOST_ROWS, max(WINDOW, round(self.rate * WINDOW_SECONDS)))


@dataclass(frozen=True)
class Run:
    """What one run has seen: the trips of the measured messages, those that never arrived, and how many were replaced unseen."""

    trips: list[Trip]
    missing: list[int]
    replaced: int
    clock: Clock


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.to == "painted" and len(SUBJECTS[given.table].looks) > 1:
        parser.error(f"a page shows one end of {given.table} at a time: measure another table to a painted cell")
    settings = {"pipeline.checkpoint_interval": given.checkpoint, **dict(setting.split("=", 1) for setting in given.set)}
    options = Options(given.table, given.to, given.rate, given.keys, given.seconds, given.warmup, settings)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report, complete = measure(options, Path(folder))
    print(json.dumps(report) if given.json else "\n".join(f"{name:>20} {value}" for name, value in report.items()))
    return 0 if complete else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description="From the producer's send to the row's arrival.")
    parser.add_argument("--table", choices=SUBJECTS, default="users_ui")
    parser.add_argument("--to", choices=PLACES, default="server", help="where it arrives (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=200, help="messages a second (default: %(default)s)")
    parser.add_argument("--keys", type=int, default=1000, help="different users (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=70, help="how long is measured (default: %(default)s)")
    parser.add_argument("--warmup", type=float, default=60, help="how long is sent before that (default: %(default)s)")
    parser.add_argument("--checkpoint", default=INTERVAL, metavar="INTERVAL", help="from one checkpoint to the next (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    return parser


def say(line: str) -> None:
    print(f"[bench] {line}", file=sys.stderr, flush=True)


def measure(options: Options, state_dir: Path) -> tuple[dict[str, object], bool]:
    """The report, and whether every message arrived."""
    say("starting broker, orchestrator and server")
    with _opened(options, state_dir) as stack, PLACES[options.to](stack, options.subject, options.window) as arrivals:
        run = _run(options, stack, arrivals)
        return _report(options, run, commit_times(state_dir)), not run.missing


@contextmanager
def _opened(options: Options, state_dir: Path) -> Iterator[Stack]:
    """A stack that has a row for each key. Where the server is the place to arrive, it runs in this process, and there is no second one."""
    if options.to == "server":
        with opened_pipeline(state_dir, options.keys, options.settings) as stack:
            yield stack
        return
    with bare_stack(state_dir, jars_folder(), options.settings) as stack:
        stack.wait_for_broker()
        open_sources(stack.kafka, options.keys)
        stack.wait_until_open()
        stack.wait_for_rows("users_ui", options.keys)
        yield stack


@contextmanager
def opened_pipeline(state_dir: Path, keys: int, settings: Mapping[str, str]) -> Iterator[Stack]:
    """Broker and orchestrator, with a generation that is live and has a row for each key."""
    with bare_pipeline(state_dir, jars_folder(), settings) as stack:
        open_sources(stack.kafka, keys)
        stack.wait_until_ready()
        yield stack


def open_sources(kafka: KafkaSettings, keys: int) -> None:
    """The topics that the orchestrator waits for, with a user for each key."""
    topics = Topics(kafka, "source")
    for source in ("users", "accounts"):
        topics.ensure(source, 1)
    send_users(kafka, keys)


def _run(options: Options, stack: Stack, arrivals: Arrivals) -> Run:
    sender = Sender(stack.kafka, Schedule(options.subject, options.rate, options.keys, options.measured.stop))
    say(f"{options.rate:g} messages a second: {options.warmup:g} s to warm up, {options.seconds:g} s measured")
    sender.start()
    told = time.monotonic()
    while sender.alive:
        time.sleep(POLL_SECONDS)
        if time.monotonic() - told >= TELL_SECONDS:
            told = time.monotonic()
            say(f"{arrivals.count()} messages seen")
    sent = sender.wait()
    for failure in sent.failures:
        say(f"not sent: {failure}")
    seen = _awaited(options, arrivals)
    arrived = with_replaced(options.subject, list(islice(random_keys(options.keys), len(sent.times))), seen)
    measured = options.subject.measured(options.measured)
    missing = [number for number in measured if number not in arrived]
    if missing:
        say(f"{len(missing)} messages were not seen, the first is number {missing[0]}")
    trips = [Trip(sent.times[number], arrived[number]) for number in measured if number in arrived]
    return Run(trips, missing, sum(number not in seen for number in measured) - len(missing), arrivals.clock())


def _awaited(options: Options, arrivals: Arrivals) -> dict[int, float]:
    """What has arrived once the last measured messages are there, or have had their time."""
    deadline = time.monotonic() + LATE_SECONDS
    measured = set(options.subject.measured(options.measured))
    while True:
        seen = arrivals.first_seen()
        missing = {number for number in measured - seen.keys() if not options.subject.may_be_replaced(number)}
        if not missing or time.monotonic() >= deadline:
            return seen
        time.sleep(POLL_SECONDS)


def with_replaced(subject: Subject, keys: Sequence[str], seen: Mapping[int, float]) -> dict[int, float]:
    """Adds the messages whose row nobody saw because a newer message of the same key and source was in it already."""
    arrived: dict[int, float] = {}
    newer: dict[tuple[str, str], float] = {}
    for number in reversed(range(len(keys))):
        lane = (subject.source_of(number), keys[number])
        moments = [seen[number]] if number in seen else []
        moments += [newer[lane]] if subject.may_be_replaced(number) and lane in newer else []
        if moments:
            arrived[number] = newer[lane] = min(moments)
    return arrived


def _report(options: Options, run: Run, commits: Sequence[float]) -> dict[str, object]:
    gaps = pauses(run.trips, commits)
    whole = summary(run.trips)
    return {
        "bench": "latency",
        "table": options.table,
        "to": options.to,
        "rate": options.rate,
        "seconds": options.seconds,
        "keys": options.keys,
        **summary(steady(run.trips, gaps)),
        "pause_ms": round(1000 * max(gap.seconds for gap in gaps), 1) if gaps else None,
        "pauses": len(gaps),
        "all_n": whole["n"],
        "all_p99_ms": whole["p99_ms"],
        "all_max_ms": whole["max_ms"],
        "missing": len(run.missing),
        "replaced": run.replaced,
        "window": options.window,
        "clock_offset_ms": round(run.clock.offset_ms, 3),
        "clock_error_ms": round(run.clock.error_ms, 3),
        "settings": options.settings,
    }


if __name__ == "__main__":
    sys.exit(main())
