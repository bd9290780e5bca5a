"""How fast a server that starts reads a table again from its changelog.

python -m bench.reread --json

Writes the changelog of final_ui to a broker of its own, as the pipeline does, and starts the server's feed on it in a new process, several times.
Timed there from the making of the feed to the moment when all rows are shown, the finding of topics and the reading of the status included. The last
line of standard output is one JSON object. Ends with 0 only if every row was shown and the median is at least 150,000 rows a second.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from bench.exclusive import machine_to_ourselves
from bench.latency import say
from bench.stack import REPOSITORY, jars_folder
from bench.views_people import people
from tablecast.jars import Jars
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import changelog_topic, status_topic
from tablecast.kafka.status import ColumnStatus, GenerationStatus, TableStatus
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.settings import KafkaSettings, Settings
from tablecast.tables.dismantler import collect_rarely

BAR = 150_000
PREFIX = "reread"
TABLE = "final_ui"
COLUMNS = (("userId", "string"), ("name", "string"), ("email", "string"), ("age", "int64"), ("accountType", "string"), ("balance", "double"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reread", description="How fast a server reads a table again.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="servers that read it, one after another (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    parser.add_argument("--read", metavar="SERVERS", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.read:
        print(json.dumps(asyncio.run(read(KafkaSettings({"bootstrap.servers": given.read})))))
        return 0
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(given.rows, given.runs, Path(folder))
    print(json.dumps(report) if given.json else json.dumps(report, indent=2))
    return 0 if report["met"] else 1


def measure(rows: int, runs: int, folder: Path) -> dict[str, Any]:
    jars = jars_folder()
    settings = Settings().replaced("pipeline", state_dir=folder, jars=jars)
    with EmbeddedBroker(settings, Jars(jars)) as broker:
        say(f"writing {rows:,} rows")
        write(broker.kafka, rows)
        read_by = [read_in_a_process(broker.kafka) for _ in range(runs)]
    return summed(rows, read_by)


def summed(rows: int, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rates = [round(run["rows"] / run["seconds"]) for run in runs]
    whole = all(run["rows"] == rows for run in runs)
    rate = round(median(rates))
    return {"bench": "reread", "rows": rows, "rows_per_s": rate, "met": whole and rate >= BAR, "whole": whole, "rates": rates, "runs": list(runs)}


def write(kafka: KafkaSettings, rows: int) -> None:
    """In no order, as a fill writes by key; one partition, as every changelog has."""
    topics, changelog = Topics(kafka), changelog_topic(PREFIX, TABLE, 1)
    topics.ensure(status_topic(PREFIX), 1, {"cleanup.policy": "compact"})
    topics.ensure(changelog, 1, {"cleanup.policy": "compact"})
    producer = make_producer(kafka, {"linger.ms": 50, "compression.type": "lz4", "queue.buffering.max.messages": 200_000})
    rng = random.Random(7)
    for number, person in enumerate(rng.sample(people(range(rows), rng), rows)):
        key, value, version = person.record(0)
        producer.produce(changelog, value, key, headers=[("version", version)])
        if number % 1000 == 0:
            producer.poll(0.01)
        while len(producer) > 150_000:
            producer.poll(0.1)
    producer.flush(60)
    columns = tuple(ColumnStatus(name, type) for name, type in COLUMNS)
    ends = {changelog: topics.end_offsets(changelog)[0]}
    status = GenerationStatus(1, "live", {}, {TABLE: TableStatus(changelog, columns)}, {}, "f", "2026-01-01T00:00:00Z", ends=ends)
    producer.produce(status_topic(PREFIX), status.encode(), status.key())
    producer.flush(60)


def read_in_a_process(kafka: KafkaSettings) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.reread", "--read", kafka.servers]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    say(f"{figures['rows'] / figures['seconds']:,.0f} rows a second")
    return figures


async def read(kafka: KafkaSettings) -> dict[str, Any]:
    hub = Hub()
    collect_rarely()
    started = time.perf_counter()
    async with Feed(kafka, PREFIX, hub).running():
        while hub.generation is None:
            await asyncio.sleep(0.01)
        seconds = time.perf_counter() - started
        rows = len(hub.generation.find(TABLE).table)
    return {"rows": rows, "seconds": round(seconds, 3), "rss_bytes": psutil.Process().memory_info().rss}


if __name__ == "__main__":
    sys.exit(main())
