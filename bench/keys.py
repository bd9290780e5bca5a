"""What a record costs as the keys grow, and what a key costs.

python -m bench.keys --json

Starts a pipeline of its own over accounts_ui and final_ui with keep last, brings the keys to each number in turn (a thousand to a million), and sends
users and accounts over all of them at a steady rate. Told for each number: the processor time that broker, orchestrator, Spark and the server's feed,
which runs in this process, took for one record; the latency to the server's table; the memory of each, Java's heap after a collection, and the bytes
of the checkpoint. `control` is a span over the first keys once more at the end, when Java has compiled what it runs: the true growth is from there to
the last number, since the first one was measured while Java was warming up. The last line of standard output is one JSON object; bytes_per_key is
the slope between the first and the last number. Ends with 0 only if every message arrived and every key has its row.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.arrivals import Arrivals, in_server
from bench.exclusive import machine_to_ourselves
from bench.figures import summary
from bench.footprint import java_bytes
from bench.latency import opened_pipeline, say
from bench.load import LOADS
from bench.sender import send_users
from bench.stack import Stack, StackError
from bench.subject import LAST_BY_USER
from bench.trips import Span, taken
from bench.usage import MEBI, Meter, Parts, memory_mb, pipeline_parts

KEYS = (1_000, 10_000, 100_000, 1_000_000)
GROW_SECONDS = 300.0
POLL_SECONDS = 0.2


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.keys", description="What a record costs as the keys grow.")
    parser.add_argument("--keys", type=int, action="append", help=f"rising; may be given again (default: {', '.join(map(str, KEYS))})")
    parser.add_argument("--rate", type=float, default=1000, help="messages a second (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10, help="how long each is measured (default: %(default)s)")
    parser.add_argument("--warmup", type=float, default=30, help="how long is sent before the first (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        steps, control = measure(Path(folder), given, settings)
    report = {"bench": "keys", "rate": given.rate, "bytes_per_key": slopes(steps), "steps": steps, "control": control, "settings": settings}
    print(json.dumps(report, indent=None if given.json else 2))
    return 0 if not any(step["missing"] for step in (*steps, control)) else 1


def measure(folder: Path, given: argparse.Namespace, settings: Mapping[str, str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A step for each number of keys, and the control."""
    say("starting broker and orchestrator")
    (folder / "tablecast.toml").write_text(LOADS["small"].catalogue)
    numbers = sorted(given.keys or KEYS)
    with opened_pipeline(folder, numbers[0], settings) as stack, in_server(stack, LAST_BY_USER, 0) as arrivals:
        course = Course(stack, arrivals, given.rate, numbers[0])
        course.send(given.warmup)
        return [course.step(keys, given.seconds) for keys in numbers], course.control(numbers[0], given.seconds)


@dataclass
class Course:
    """One number of keys after the other, over the same pipeline."""

    stack: Stack
    arrivals: Arrivals
    rate: float
    keys: int
    first: int = 0

    def step(self, keys: int, seconds: float) -> dict[str, Any]:
        self._grow(keys)
        self.send(seconds / 2)
        return {**self._spent(seconds), **_held(self.stack, pipeline_parts(self.stack))}

    def control(self, keys: int, seconds: float) -> dict[str, Any]:
        """Once more over the first keys only, with all the others still there: what is less than in the first step, Java has learnt since then."""
        held, self.keys = self.keys, keys
        self.send(seconds / 2)
        return {**self._spent(seconds), "held": held}

    def _spent(self, seconds: float) -> dict[str, Any]:
        """Processor time of a record over the keys of now, and the latencies."""
        meter = Meter(pipeline_parts(self.stack))
        messages, missing, figures = self.send(seconds)
        spent = meter.used().micros_each(messages)
        say(f"{self.keys:,} keys: {sum(spent.values()):.0f} µs of processor time a record, p99 {figures['p99_ms']} ms")
        return {"keys": self.keys, "cpu_us": spent, **figures, "missing": missing}

    def send(self, seconds: float) -> tuple[int, int, dict[str, float | int | None]]:
        """How many messages were sent, how many never arrived, and the latencies of the others."""
        span = Span(LAST_BY_USER, self.rate, self.keys, seconds, first=self.first)
        self.first = span.numbers.stop
        course = taken(self.stack.kafka, span, self.arrivals, say)
        return len(span.numbers), len(course.missing), summary(course.trips)

    def _grow(self, keys: int) -> None:
        """A user for each key that is new, seen in the table."""
        seen, known, self.keys = self.arrivals.count(), self.keys, keys
        send_users(self.stack.kafka, keys, known)
        deadline = time.monotonic() + GROW_SECONDS
        while self.arrivals.count() < seen + keys - known:
            if time.monotonic() > deadline:
                raise StackError(f"{self.arrivals.count() - seen:,} of {keys - known:,} new users after {GROW_SECONDS:g} s", self.stack.log.lines)
            time.sleep(POLL_SECONDS)


def _held(stack: Stack, parts: Parts) -> dict[str, Any]:
    files = [file.stat().st_size for file in (stack.state_dir / "checkpoints").rglob("*") if file.is_file()]
    return {
        "memory_mb": memory_mb(parts),
        "spark_heap_mb": round(java_bytes(parts["spark"].pid) / MEBI, 1),
        "checkpoint_mb": round(sum(files) / MEBI, 1),
    }


def slopes(steps: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Bytes that each key more took, between the fewest and the most."""
    few, many = _megabytes(steps[0]), _megabytes(steps[-1])
    more = max(1, steps[-1]["keys"] - steps[0]["keys"])
    return {name: round(MEBI * (many[name] - few[name]) / more) for name in many}


def _megabytes(step: Mapping[str, Any]) -> dict[str, float]:
    held = step["memory_mb"]
    return {"feed": held["feed"], "spark": held["spark"], "spark_heap": step["spark_heap_mb"], "checkpoint": step["checkpoint_mb"]}


if __name__ == "__main__":
    sys.exit(main())
