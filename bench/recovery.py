"""How long nobody sees anything new after a part was killed.

python -m bench.recovery --json

Starts a stack of its own, sends a user every twentieth of a second, and kills server, orchestrator and broker in turn with SIGKILL, as often as is
asked, each with the Java that it runs. Measured from the kill to the first answer of the server that has a row sent after it. The last line of
standard output is one JSON object with every repeat and, for each part, the median in seconds. Ends with 0 only if every row is there in the end,
once.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.error import URLError

import psutil

from bench.exclusive import machine_to_ourselves
from bench.latency import opened_stack, say
from bench.stack import Stack, StackError
from bench.subject import NEWEST, key_of, message
from tablecast.kafka.clients import make_producer
from tablecast.settings import KafkaSettings

TABLE = "users_ui"
USERS = 100
EVERY_SECONDS = 0.05
LOOK_SECONDS = 0.02
MOST_SECONDS = 120.0
GONE_SECONDS = 5.0
CALM_SECONDS = 5.0
"""Between two kills, so that each finds a stack that has been well for a while."""
PARTS = ("server", "orchestrator", "broker")


@dataclass
class Stream:
    """Users with rising numbers, and when each was sent."""

    kafka: KafkaSettings
    sent: list[float] = field(default_factory=list)

    @contextmanager
    def flowing(self) -> Iterator[None]:
        ended = threading.Event()
        thread = threading.Thread(target=self._send, args=(ended,), name="stream")
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _send(self, ended: threading.Event) -> None:
        producer = make_producer(self.kafka, {"message.timeout.ms": 0})
        while not ended.wait(EVERY_SECONDS):
            number = len(self.sent)
            self.sent.append(time.monotonic())
            producer.produce("users", message("users", number, key_of(number % USERS)))
            producer.poll(0)
        if left := producer.flush(MOST_SECONDS):
            raise TimeoutError(f"{left} users were not taken within {MOST_SECONDS:g} s")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recovery", description="From a kill -9 to the first new row.")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be given again (default: each)")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is killed (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(Path(folder), given.part or list(PARTS), given.repeats, settings)
    print(json.dumps(report, indent=None if given.json else 2))
    return 0 if report["rows"] == report["sent"] else 1


def measure(folder: Path, parts: Sequence[str], repeats: int, settings: dict[str, str]) -> dict[str, Any]:
    found: dict[str, list[float]] = {part: [] for part in parts}
    with opened_stack(folder, USERS, settings) as stack:
        stream = Stream(stack.kafka)
        with stream.flowing():
            for part in list(parts) * repeats:
                time.sleep(CALM_SECONDS)
                found[part].append(_recovered(stack, stream, part))
        stack.wait_for_rows(TABLE, USERS + len(stream.sent), MOST_SECONDS)
        rows = int(stack.rows(TABLE)["total"])
    seconds = {f"{part}_seconds": round(median(times), 2) for part, times in found.items()}
    return {"bench": "recovery", **seconds, "rows": rows, "sent": USERS + len(stream.sent), "repeats": found, "settings": settings}


def _recovered(stack: Stack, stream: Stream, part: str) -> float:
    """Seconds from the kill to the first answer with a row that was sent after it."""
    process = stack.process_of(part)
    # Spark's and Kafka's Java outlive their Python for a moment, in which rows still come.
    family = [process, *process.children(recursive=True)]
    killed = time.monotonic()
    for each in family:
        each.kill()
    psutil.wait_procs(family, GONE_SECONDS)
    first = len(stream.sent)
    while _newest(stack) < first:
        if time.monotonic() > killed + MOST_SECONDS:
            raise StackError(f"no new row within {MOST_SECONDS:g} s of the death of the {part}", stack.log.lines)
        time.sleep(LOOK_SECONDS)
    seconds = time.monotonic() - killed
    say(f"{part} killed: a new row after {seconds:.2f} s")
    return round(seconds, 2)


def _newest(stack: Stack) -> int:
    """The number of the last row; -1 while there is no answer."""
    try:
        rows = stack.rows(TABLE, offset=NEWEST)["rows"]
    except (URLError, ConnectionError, TimeoutError):
        return -1
    return max((int(row["name"]) for row in rows), default=-1)


if __name__ == "__main__":
    sys.exit(main())
