"""docs/benchmarks.md and its plots, from the results of the suite."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from bench import claims, sections
from bench.bends import BENDS
from bench.charts import charts
from bench.chromium import find_chromium
from bench.latency import say
from bench.peers.environment import NODE, python_with
from bench.stack import REPOSITORY
from tablecast.java import find_java

PAGE = REPOSITORY / "docs" / "benchmarks.md"
FOLDER = REPOSITORY / "docs" / "benchmarks"
RESULTS = FOLDER / "results.json"
PLOTTER = ("matplotlib==3.11.2",)
Results = Mapping[str, Any]

INTRODUCTION = """\
# Benchmarks

Written by `make bench` from what it measured, peers beside us in the same run on the same machine. `make bench NAME=idle` runs one program, and
`python -m bench idle` runs it as a part of this page. Each program prints one JSON object last and ends with 0 only if its own checks held; all that
they found, every repeat, is in [results.json](benchmarks/results.json). Take the ratios, not the digits: broker, Spark, server, viewers and peers
share the cores of one machine, which others use too. What was found out on the way, what bends the curves, and figures of other machines are in
[findings](benchmarks/findings.md).
"""


@cache
def machine() -> dict[str, Any]:
    """What the figures were measured on, and with."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "processor": _processor(),
        "system": platform.system(),
        "commit": _said(["git", "describe", "--always", "--dirty", "--exclude", "*"]).strip(),
        "versions": {
            "Python": platform.python_version(),
            "Java": _version([str(find_java().executable), "-version"]),
            "Node": _version([str(NODE), "--version"]),
            "Chromium": _chromium(),
            **{name: version(name) for name in ("tablecast", "pyspark", "confluent-kafka", "uvicorn")},
        },
    }


def _chromium() -> str:
    try:
        return _version([find_chromium(), "--version"])
    except FileNotFoundError:
        return "none"


def _version(command: Sequence[str]) -> str:
    """The first number with points that a program says."""
    found = re.search(r"\d+(\.\d+)+", _said(command))
    return found[0] if found else "unknown"


def _said(command: Sequence[str]) -> str:
    """Java says its version where others complain. Nothing of one that failed or is not there."""
    try:
        done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def _processor() -> str:
    """As Linux names it; what Python knows elsewhere."""
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0] if names else platform.processor()


def write_report(results: Results) -> None:
    """The page, and a plot for each chart that there are figures for."""
    drawn = charts({name: result["found"] for name, result in results.items() if result["found"]})
    draw(drawn)
    PAGE.write_text(page(results, [chart["name"] for chart in drawn]))


def page(results: Results, drawn: Sequence[str]) -> str:
    results = with_twin(results)
    parts = [INTRODUCTION, _circumstances(results), "\n".join(claims.lines(results))]
    for name, title, section in sections.SECTIONS:
        result = results.get(name)
        parts.append(f"## {title}\n\n{_part(name, result, section, drawn)}" if result else f"## {title}\n\nNot run yet.\n")
    return "\n".join(parts)


def with_twin(results: Results) -> Results:
    """What was found with a twin stands beside the peers too."""
    peers, twin = (results.get(name, {}) for name in ("latency-peers", "latency-twin"))
    if not (peers.get("found") and twin.get("found")):
        return results
    return {**results, "latency-peers": {**peers, "found": {**peers["found"], "twin": twin["found"]}}}


def _part(name: str, result: Mapping[str, Any], section: Callable[[Mapping[str, Any]], Iterable[str]], drawn: Sequence[str]) -> str:
    told = "\n".join(section(result["found"])) if result["found"] else "It ended without a result.\n"
    plots = "".join(f"\n![{chart}](benchmarks/{chart}.svg)\n" for chart in drawn if owner(chart) == name)
    ended = "" if result["exit_code"] == 0 else " **It ended with an error: a bar was not kept, or something was not right.**"
    commit = f", commit {result['machine']['commit']}" if result["machine"].get("commit") else ""
    took = f"`{result['command']}`, {result['when'][:10]}{commit}, {result['seconds']:.0f} s; {_speed(result['machine'])}.{ended}\n"
    bends = f"\n{BENDS[name]}" if name in BENDS and result["found"] else ""
    return f"{took}\n{told}\n{plots}{bends}"


def owner(chart: str) -> str:
    """The part whose section shows the chart: the name of a chart begins with it."""
    return max((name for name, _, _ in sections.SECTIONS if chart == name or chart.startswith(f"{name}-")), key=len)


def _speed(measured_on: Mapping[str, Any]) -> str:
    steps = f"{measured_on['steps_before']} and {measured_on['steps_after']} million steps of plain Python a second before and after"
    return f"{steps}, {measured_on['stolen_percent']} % of the machine's time went to others"


def _circumstances(results: Results) -> str:
    """The machine, the versions and the time of all of it. Of several machines, which a page that was written in parts has, each is told."""
    machines = {
        json.dumps({key: on[key] for key in ("cores", "memory_gib", "processor", "versions")}) for on in (r["machine"] for r in results.values())
    }
    lines = []
    for told in sorted(machines):
        on = json.loads(told)
        versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
        lines.append(f"{on['cores']} cores ({on['processor']}), {on['memory_gib']} GiB; {versions}.")
    minutes = sum(result["seconds"] for result in results.values()) / 60
    return "\n".join([*lines, f"All of it took {minutes:.0f} minutes.", ""])


def draw(drawn: Sequence[Mapping[str, Any]]) -> None:
    """Matplotlib, which draws them, is in a virtualenv of its own: nothing else needs it."""
    python = python_with("plots", PLOTTER, say)
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(python), str(REPOSITORY / "bench" / "draw.py"), str(FOLDER)], input=json.dumps(drawn), text=True, check=True)


if __name__ == "__main__":
    write_report(json.loads(RESULTS.read_text()))
    sys.exit(0)
