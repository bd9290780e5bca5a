"""How long a Tablecast takes from its start to the first rows, in an empty folder and again.

python -m bench.startup --json

Starts broker, orchestrator, Spark and server as `tablecast run` does, with users in the topic, and notes when the broker takes messages, when Spark
is up, when the address is told and when every row is served; then stops it and starts it again in the same folder. The last line of standard output
is one JSON object with every repeat; rows_seconds is the median of the starts in an empty folder, again_rows_seconds of the others. Ends with 0 only
if every row was there each time and everything stopped with the code 0.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.exclusive import machine_to_ourselves
from bench.latency import say
from bench.sender import open_sources
from bench.stack import OPEN_SECONDS, SESSION_UP, bare_stack, jars_folder

USERS = 1000


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.startup", description="From the start to the first rows.")
    parser.add_argument("--repeats", type=int, default=3, help="empty folders, each with two starts (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    starts: list[dict[str, float]] = []
    with machine_to_ourselves(say):
        for _ in range(given.repeats):
            with tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
                starts += [started(Path(folder), new=new) for new in (True, False)]
    report = {"bench": "startup", **medians(starts), "repeats": starts}
    print(json.dumps(report, indent=None if given.json else 2))
    return 0 if not any(start["exit_code"] for start in starts) else 1


def started(folder: Path, *, new: bool) -> dict[str, float]:
    """Seconds from the start to each step. Raises StackError if a row is missing."""
    began = time.monotonic()
    steps: dict[str, float] = {"new": float(new)}

    def reached(step: str) -> None:
        steps[step] = round(time.monotonic() - began, 2)

    stack = bare_stack(folder, jars_folder(), {}).start()
    try:
        stack.wait_for_broker()
        reached("broker_seconds")
        if new:
            open_sources(stack.kafka, USERS)
        stack.log.wait_for(SESSION_UP, OPEN_SECONDS)
        reached("spark_seconds")
        stack.wait_until_open()
        reached("open_seconds")
        stack.wait_for_rows("users_ui", USERS)
        reached("rows_seconds")
    finally:
        ending = stack.stop()
    say(f"{'an empty folder' if new else 'again'}: {steps}")
    return {**steps, "stop_seconds": round(ending.seconds, 2), "exit_code": ending.code}


def medians(starts: Sequence[dict[str, float]]) -> dict[str, float]:
    return {
        f"{prefix}{step}": round(median(start[step] for start in starts if start["new"] == new), 2)
        for prefix, new in (("", True), ("again_", False))
        for step in ("broker_seconds", "spark_seconds", "open_seconds", "rows_seconds")
    }


if __name__ == "__main__":
    sys.exit(main())
