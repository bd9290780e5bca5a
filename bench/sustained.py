"""The highest steady rate that the pipeline keeps up with.

python -m bench.sustained --json

Starts a stack of its own and sends at one rate after the other, each higher than the one before; measured from the producer's send to the server's
table. A rate is kept up with if every message arrived and the 99th percentile stays under --limit. `cpu_us` is the processor time of a record, by
part: the feed, which runs in this process, sends too. The last line of standard output is one JSON object: messages_per_s is the highest such rate,
`steps` has them all. Ends with 0 only if every message of every step arrived.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.arrivals import Arrivals, in_server
from bench.exclusive import machine_to_ourselves
from bench.figures import summary
from bench.latency import opened_pipeline, say
from bench.load import LOADS
from bench.stack import Stack
from bench.subject import LAST_BY_USER, SUBJECTS, Subject
from bench.trips import Span, taken
from bench.usage import Meter, pipeline_parts

RATES = (1_000, 2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 20_000, 30_000)
WARMUP_RATE = 1_000
LINGER_MS = 5
"""Of the producer that sends: what its library has by default."""
TOO_MUCH = 2
"""A single rate that is missed may be another's fault, or that of a Java that still compiles."""
ENOUGH = 0.98
"""Of the wanted rate must have been sent: a sender that falls behind measures nothing."""


@dataclass(frozen=True)
class Options:
    load: str
    keys: int
    seconds: float
    settle: float
    limit_ms: float
    warmup: float
    rates: tuple[int, ...] = RATES
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> Subject:
        return LAST_BY_USER if LOADS[self.load].keep_last else SUBJECTS["user_account"]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.sustained", description="The highest steady rate that the pipeline keeps up with.")
    parser.add_argument("--load", choices=LOADS, default="small", help="small: accounts_ui and final_ui with keep last; all: the default catalogue")
    parser.add_argument("--keys", type=int, default=100_000, help="different users (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10, help="how long a rate is measured (default: %(default)s)")
    parser.add_argument("--settle", type=float, default=5, help="how long it is sent before that (default: %(default)s)")
    parser.add_argument("--warmup", type=float, default=60, help=f"how long {WARMUP_RATE} a second are sent before all (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=250, help="of the 99th percentile, in milliseconds (default: %(default)s)")
    parser.add_argument("--rate", type=int, action="append", help="only this one (default: one after the other, up to what is too much)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    options = Options(given.load, given.keys, given.seconds, given.settle, given.limit, given.warmup, tuple(given.rate or RATES), settings)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        steps = measure(options, Path(folder))
    kept_up = [step["rate"] for step in steps if step["kept_up"]]
    report = {
        "bench": "sustained",
        "load": options.load,
        "keys": options.keys,
        "limit_ms": options.limit_ms,
        "messages_per_s": max(kept_up, default=0),
        "steps": steps,
        "settings": options.settings,
    }
    print(json.dumps(report, indent=None if given.json else 2))
    return 0 if all(step["missing"] == 0 for step in steps) else 1


def measure(options: Options, state_dir: Path) -> list[dict[str, Any]]:
    say("starting broker, orchestrator and server")
    (state_dir / "tablecast.toml").write_text(LOADS[options.load].catalogue)
    with opened_pipeline(state_dir, options.keys, options.settings) as stack, in_server(stack, options.subject, 0) as arrivals:
        return list(_steps(options, stack, arrivals))


def _steps(options: Options, stack: Stack, arrivals: Arrivals) -> Iterator[dict[str, Any]]:
    """One rate after the other, the lower ones warming up for the higher, until TOO_MUCH in a row were not kept up with."""
    warm = replace(options, settle=0.0, seconds=options.warmup)
    _step(warm, stack, arrivals, WARMUP_RATE, 0)
    first = round(WARMUP_RATE * options.warmup)
    missed = 0
    for rate in options.rates:
        step = _step(options, stack, arrivals, rate, first)
        first += round(rate * (options.settle + options.seconds))
        say(f"{rate:,} messages a second: p99 {step['p99_ms']} ms, {step['missing']} missing")
        yield step
        missed = 0 if step["kept_up"] else missed + 1
        if missed == TOO_MUCH:
            return


def _step(options: Options, stack: Stack, arrivals: Arrivals, rate: int, first: int) -> dict[str, Any]:
    span, meter = Span(options.subject, rate, options.keys, options.seconds, options.settle, first, LINGER_MS), Meter(pipeline_parts(stack))
    course = taken(stack.kafka, span, arrivals, say)
    spent = meter.used().micros_each(len(span.numbers))
    figures, sent_per_s = summary(course.trips), round(course.sent_per_s)
    p99, missing = figures["p99_ms"], len(course.missing)
    kept_up = not missing and p99 is not None and p99 < options.limit_ms and sent_per_s >= ENOUGH * rate
    return {"rate": rate, "sent_per_s": sent_per_s, **figures, "cpu_us": spent, "missing": missing, "kept_up": kept_up}


if __name__ == "__main__":
    sys.exit(main())
