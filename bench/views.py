"""How fast a view of a million rows takes changes, beside Perspective on the same rows in the same run.

python -m bench.views --json

The view is sorted by balance, descending, and filtered by age. Measured, in the median of many rounds: from one changed row, and from a thousand, to
the bytes of the whole new 300-row window, and apart to those of the frame that a viewer gets, which holds only what differs; how long the view takes
to build, in slices, and the longest that one slice held the interpreter; what a server has left to do once the window is out, because nobody looks
there (`upkeep`, and `settle` after the building); and the memory of the process that holds table and view. Each side runs in a
process of its own: ours gets changelog records as a server does, in no order, Perspective gets Arrow, which is the quickest for it, and lives in a
virtualenv under .tablecast/peers, made at the first run. The last line of standard output is one JSON object.
Ends with 0 only if every bar is met and both sides show the same window after the same changes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.exclusive import machine_to_ourselves
from bench.latency import say
from bench.peers.environment import python_with
from bench.stack import REPOSITORY
from bench.views_data import write_data
from bench.views_records import ROUNDS

BARS = {
    "one_ms": 0.5,
    "thousand_ms": 10.0,
    "build_seconds": 3.0,
    "one_ratio": 1000.0,
    "thousand_ratio": 50.0,
    "rss_ratio": 0.5,
    "table_bytes_per_row": 500,
    "view_bytes_per_row": 130,
}
_AT_LEAST = {"one_ratio", "thousand_ratio"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.views", description="How fast a view of a million rows takes changes.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default: %(default)s)")
    parser.add_argument("--grow", type=int, action="append", default=[], metavar="ROWS", help="our side with fewer rows too; may be given again")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    python = python_with("perspective", ("perspective-python",), say)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        fewer = {rows: our_side(Path(folder) / str(rows), rows) for rows in given.grow}
        ours = our_side(Path(folder) / "all", given.rows)
        say("Perspective")
        theirs = figures_of([str(python), str(REPOSITORY / "bench" / "peers" / "perspective_views.py"), f"{folder}/all"])
    growth = [grown(rows, figures) for rows, figures in {**fewer, given.rows: ours}.items()]
    report = {"bench": "views", "rows": given.rows, **compared(ours, theirs), "growth": growth}
    print(json.dumps(report) if given.json else json.dumps(report, indent=2))
    return 0 if report["met"] else 1


def our_side(folder: Path, rows: int) -> dict[str, Any]:
    say(f"writing {rows:,} rows and {len(ROUNDS)} kinds of changes")
    folder.mkdir()
    write_data(folder, rows)
    say(f"Tablecast with {rows:,} rows")
    return figures_of([sys.executable, "-m", "bench.views_ours", str(folder)])


def grown(rows: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    """What so many rows make of it."""
    return {"rows": rows, **medians(figures), "build_seconds": figures["build_seconds"], "rss_mb": round(figures["rss_bytes"] / 1e6, 1)}


def medians(figures: Mapping[str, Any]) -> dict[str, float]:
    """Of each kind of change."""
    return {f"{name}_ms": round(median(figures[f"{name}_ms"]), 4) for name in ROUNDS}


def compared(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of both sides, and which bars are met. Times are medians."""
    ratios = {f"{name}_ratio": round(median(theirs[f"{name}_ms"]) / median(ours[f"{name}_ms"])) for name in ROUNDS}
    rss = {"rss_ratio": round(ours["rss_bytes"] / theirs["rss_bytes"], 3)}
    weights = {name: ours[name] for name in ("table_bytes_per_row", "view_bytes_per_row")}
    measured = {**medians(ours), "build_seconds": round(ours["build_seconds"], 3), **ratios, **rss, **weights}
    missed = [name for name, bar in BARS.items() if not meets(name, measured[name], bar)]
    agree = ours["shown"] == theirs["shown"] and ours["total"] == theirs["total"]
    return {**measured, "missed": missed, "agree": agree, "met": agree and not missed, "ours": brief(ours), "perspective": brief(theirs)}


def meets(name: str, value: float, bar: float) -> bool:
    return value >= bar if name in _AT_LEAST else value < bar


def brief(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Lists of times as median, least and greatest; without the window that was shown."""
    figures = {name: value for name, value in figures.items() if name != "shown"}
    spans = {
        name: {"median": round(median(value), 4), "min": round(min(value), 4), "max": round(max(value), 4), "n": len(value)}
        for name, value in figures.items()
        if isinstance(value, list)
    }
    return {**{name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()}, **spans}


def figures_of(command: Sequence[str]) -> dict[str, Any]:
    """What the last line of this program says."""
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    sys.exit(main())
