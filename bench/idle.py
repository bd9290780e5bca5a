"""What a Tablecast costs when nothing happens.

python -m bench.idle --json

Starts a stack of its own with some users in it, waits until it has calmed down, and counts the processor time and the memory of each part: without a
viewer, and with one whose window does not change. The last line of standard output is one JSON object; `cores` is the most of all repeats, over all
parts together. Ends with 0 only if that is under its bar.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bench.arrivals import in_websocket
from bench.exclusive import machine_to_ourselves
from bench.latency import opened_stack, say
from bench.stack import Stack
from bench.subject import SUBJECTS
from bench.usage import Parts, memory_mb, parts_of, used_in

USERS = 1000
MOST_CORES = 0.1
CALM_SECONDS = 30.0
LATEST_SECONDS = 120.0
"""Java compiles for minutes after the first rows: a stack has calmed down when it kept the bar for CALM_SECONDS, and is counted at the latest after
so long."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description="What it costs when nothing happens.")
    parser.add_argument("--seconds", type=float, default=20, help="how long is counted, each time (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=2, help="how often (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the stack, as in pipeline.twin=true")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(Path(folder), given.seconds, given.repeats, settings)
    print(json.dumps(report, indent=None if given.json else 2))
    return 0 if report["cores"] < MOST_CORES else 1


def measure(folder: Path, seconds: float, repeats: int, settings: dict[str, str]) -> dict[str, Any]:
    with opened_stack(folder, USERS, settings) as stack:
        parts = parts_of(stack)
        calm_after = _calm(parts)
        counted = [_counted(stack, parts, seconds, viewers) for viewers in (0, 1) for _ in range(repeats)]
    return {
        "bench": "idle",
        "cores": max(span["cores"] for span in counted),
        "cores_without_viewers": max(span["cores"] for span in counted if not span["viewers"]),
        "memory_mb": round(sum(counted[-1]["memory_mb"].values()), 1),
        "calm_after_seconds": calm_after,
        "bar_cores": MOST_CORES,
        "repeats": counted,
        "settings": settings,
    }


def _calm(parts: Parts) -> float:
    """How long it took until the stack was calm, at most LATEST_SECONDS: what comes after that is its idle cost."""
    began = time.monotonic()
    while time.monotonic() < began + LATEST_SECONDS and sum(used_in(parts, CALM_SECONDS).cores.values()) > MOST_CORES:
        pass
    say(f"calm after {time.monotonic() - began:.0f} s")
    return round(time.monotonic() - began, 1)


def _counted(stack: Stack, parts: Parts, seconds: float, viewers: int) -> dict[str, Any]:
    with in_websocket(stack, SUBJECTS["users_ui"], 300) if viewers else nullcontext():
        used = used_in(parts, seconds)
    cores = {name: round(share, 4) for name, share in used.cores.items()}
    say(f"{viewers} viewers: {sum(cores.values()):.3f} cores, {cores}")
    return {"viewers": viewers, "cores": round(sum(cores.values()), 4), "parts": cores, "memory_mb": memory_mb(parts)}


if __name__ == "__main__":
    sys.exit(main())
