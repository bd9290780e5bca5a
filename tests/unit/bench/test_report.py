"""The page that is written from results."""

import json
import re

from bench.bends import BENDS
from bench.charts import charts
from bench.report import FOLDER, PAGE, RESULTS, machine, owner, page

MACHINE = {
    "cores": 2,
    "memory_gib": 24,
    "processor": "a processor",
    "versions": {"Python": "3.11"},
    "steps_before": 20.0,
    "steps_after": 21.0,
    "stolen_percent": 1.5,
}
FOUND = {"rows": 1_000_000, "rows_per_s": 185_000}
RESULT = {"command": "python -m bench.reread --json", "when": "2026-01-01T10:00+00:00", "seconds": 60.0, "machine": MACHINE}


def test_the_page_in_the_repository_is_what_its_results_give() -> None:
    results = json.loads(RESULTS.read_text())
    drawn = [chart["name"] for chart in charts({name: result["found"] for name, result in results.items() if result["found"]})]
    assert PAGE.read_text() == page(results, drawn)
    assert {f"{name}.svg" for name in drawn} == {file.name for file in FOLDER.glob("*.svg")}


def test_a_part_says_what_was_run_where_and_what_was_not_run() -> None:
    told = page({"reread": {**RESULT, "exit_code": 0, "found": FOUND}}, [])
    assert "2 cores (a processor), 24 GiB; Python 3.11." in told
    assert "`python -m bench.reread --json`, 2026-01-01, 60 s; 20.0 and 21.0 million steps" in told
    assert "185,000 a second" in told
    assert told.count("Not run yet.") > 5


def test_the_machine_tells_the_commit_and_what_runs_on_it() -> None:
    on = machine()
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?", on["commit"])
    assert all(re.match(r"\d+\.\d+", on["versions"][name]) for name in ("Python", "Java", "Node", "Chromium"))
    assert ", commit abc1234, 60 s" in page({"reread": {**RESULT, "machine": {**MACHINE, "commit": "abc1234"}, "exit_code": 0, "found": FOUND}}, [])


def test_what_bends_a_curve_and_what_was_to_be_shown_are_on_the_page() -> None:
    results = json.loads(RESULTS.read_text())
    assert all(bends in page(results, []) for bends in BENDS.values())
    assert page(results, []).index("## What was to be shown") < page(results, []).index("## Latency: from Kafka")


def test_a_part_that_failed_says_so() -> None:
    told = page({"reread": {**RESULT, "exit_code": 1, "found": None}}, [])
    assert "It ended with an error" in told
    assert "It ended without a result." in told


def test_a_chart_is_shown_by_the_part_with_the_longest_name_that_it_begins_with() -> None:
    assert [owner(name) for name in ("latency", "latency-peers", "keys-memory")] == ["latency", "latency-peers", "keys"]
