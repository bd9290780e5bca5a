"""Runs the whole suite, or parts of it by name, and writes docs/benchmarks.md and its plots from what it found.

python -m bench [NAME ...]

Each program runs as a process of its own, and prints its result as its last line; results are kept in docs/benchmarks/results.json, so that a part
can be run again without the others. Ends with 0 only if every program did: the others are named, and their figures are told nevertheless.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from bench.exclusive import Speed
from bench.latency import say
from bench.report import RESULTS, machine, write_report
from bench.stack import REPOSITORY
from bench.suite import SUITE, Part


def main(arguments: Sequence[str] | None = None) -> int:
    known = {part.name: part for part in SUITE}
    parser = argparse.ArgumentParser(prog="python -m bench", description="Runs the benchmarks and writes docs/benchmarks.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(known)}")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"there is no part {unknown[0]} of the suite, only {', '.join(known)}")
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.names or known:
        results[name] = run(known[name])
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    write_report(results)
    ran = {name: results[name] for name in given.names or known}
    failed = [name for name, result in ran.items() if result["exit_code"]]
    ended = f"not kept or not right: {', '.join(failed)}" if failed else "all of them kept their bars"
    say(f"{len(ran)} parts in {sum(result['seconds'] for result in ran.values()) / 60:.1f} minutes; {ended}")
    return 1 if failed else 0


def run(part: Part) -> dict[str, Any]:
    """What the program printed last, with when, how long and on what machine."""
    say(f"=== {part.name}: {part.command}")
    began, speed = time.monotonic(), Speed()
    command = [sys.executable, "-m", f"bench.{part.program}", "--json", *part.arguments]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    return {
        "command": part.command,
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "seconds": round(time.monotonic() - began, 1),
        "exit_code": done.returncode,
        "machine": {**machine(), **speed.told()},
        "found": json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None,
    }


if __name__ == "__main__":
    sys.exit(main())
