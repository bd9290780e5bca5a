"""What viewers notice while a million rows are exported, and what is in the files.

python -m bench.export --json

Starts an embedded Kafka and the real server as a process of its own, writes final_ui's changelog itself, 200 changes a second, and lets 50 viewers of
one window in a process of their own note when each change arrives: first among themselves, then while the table is saved by our own client as CSV,
Arrow and Parquet, and a sorted view of it as Parquet, one after another. The files are read back with pyarrow and DuckDB. The last line of standard
output is one JSON object. Ends with 0 only if every file has every row and the viewers' p99 is under 250 ms in both parts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bench.audience import Audience
from bench.exclusive import machine_to_ourselves
from bench.fanout import MOST_P99_MS, WINDOW, Bench, Options, figures, running
from bench.handmade import TABLE
from bench.latency import say
from bench.stack import KEY, REPOSITORY
from bench.subject import Look

VIEWERS = 50
EXPORTS: Mapping[str, tuple[str, str]] = {
    "csv": ("csv", ""),
    "arrow": ("arrow", ""),
    "parquet": ("parquet", ""),
    "sorted": ("parquet", "balance:desc"),
}
"""Format and sort."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.export", description="What viewers notice of an export.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of the quiet part (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    options = Options(VIEWERS, given.rows, 200.0, given.seconds, 3.0)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="export-") as folder, running(options, Path(folder)) as bench:
        found = measure(bench, Path(folder))
    report = {"bench": "export", **vars(options), **found, "met": met(found, given.rows)}
    print(json.dumps(report) if given.json else json.dumps(report, indent=2))
    return 0 if report["met"] else 1


def measure(bench: Bench, folder: Path) -> dict[str, Any]:
    options, files = bench.options, dict[str, Any]()
    with Audience(bench.url, KEY, [Look(0)] * VIEWERS, WINDOW) as audience, bench.handmade.changing(options.rate, WINDOW):
        time.sleep(options.warmup)
        audience.begin()
        time.sleep(options.seconds)
        quiet = audience.end()
        before = bench.process.memory_info().rss
        audience.begin()
        for name, (format, sort) in EXPORTS.items():
            files[name] = saved(bench.url, folder / f"{name}.{format}", format, sort)
            say(f"{name}: {files[name]}")
        during = audience.end()
        grown = bench.process.memory_info().rss - before
    for name, (format, _) in EXPORTS.items():
        files[name] |= read_back(folder / f"{name}.{format}")
    return {"quiet": figures(quiet), "exporting": figures(during), "rss_mb": round(before / 1e6), "rss_grown_mb": round(grown / 1e6), "files": files}


def saved(url: str, file: Path, format: str, sort: str) -> dict[str, Any]:
    """By our own client, in a process of its own."""
    code = "import sys; from pathlib import Path; from tablecast.client.exporting import export; u, k, t, f, *q = sys.argv[1:]; "
    code += "export(u, k, t, Path(f), dict(part.split('=') for part in q))"
    query = [f"format={format}", *([f"sort={sort}"] if sort else [])]
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", code, url, KEY, TABLE, str(file), *query], cwd=REPOSITORY, check=True)
    return {"seconds": round(time.monotonic() - started, 2), "megabytes": round(file.stat().st_size / 1e6, 1)}


def read_back(file: Path) -> dict[str, int]:
    """How many different users each reader finds."""
    if file.suffix == ".csv":
        people = pa.csv.read_csv(file)
    elif file.suffix == ".arrow":
        people = pa.ipc.open_file(file).read_all()
    else:
        people = pa.parquet.read_table(file)
    source = "people" if file.suffix == ".arrow" else repr(str(file))
    with duckdb.connect() as database:
        found = database.execute(f"select count(distinct userId) from {source}").fetchone()  # noqa: S608
    assert found is not None
    return {"pyarrow": len(people.column("userId").unique()), "duckdb": int(found[0])}


def met(found: Mapping[str, Any], rows: int) -> bool:
    whole = all((file["pyarrow"], file["duckdb"]) == (rows, rows) for file in found["files"].values())
    return whole and all(found[part]["p99_ms"] is not None and found[part]["p99_ms"] < MOST_P99_MS for part in ("quiet", "exporting"))


if __name__ == "__main__":
    sys.exit(main())
