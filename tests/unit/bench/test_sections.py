"""Figures as the page tells them."""

import pytest

from bench.bends import BENDS
from bench.charts import charts
from bench.claims import MAKERS
from bench.sections import SECTIONS, hydrate, keys, latency_peers, spread, sustained, table, told
from bench.suite import SUITE

STEPS = [
    {"rate": 1000, "p50_ms": 7.04, "p99_ms": 14.2, "kept_up": True},
    {"rate": 10_000, "p50_ms": 9.5, "p99_ms": 1561.4, "kept_up": False},
]
RATE = {"messages_per_s": 200_000}
SUSTAINED = {"keys": 100_000, "messages_per_s": 1000, "limit_ms": 250.0, "steps": STEPS}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (1234567, "1,234,567"), (1561.4, "1,561"), (14.25, "14.2"), (0.04213, "0.042"), ("twin", "twin"), (0, "0")],
)
def test_a_figure_has_as_many_digits_as_it_is_worth(value: object, expected: str) -> None:
    assert told(value) == expected


def test_a_table_is_markdown_with_an_empty_line_behind_it() -> None:
    assert list(table(("a", "b"), [(1, None)])) == ["| a | b |", "| --- | --- |", "| 1 | – |", ""]


def test_a_spread_is_from_the_least_to_the_most_and_a_dash_of_none() -> None:
    assert spread([{"ms": 3.0}, {"ms": 1.0}, {"ms": None}], "ms") == "1 to 3"
    assert spread([{}], "ms") == "–"


def test_a_rate_that_is_not_kept_up_with_is_told() -> None:
    page = "\n".join(sustained(SUSTAINED))
    assert "| 10,000 | 9.5 | 1,561 | – | **no** |" in page
    assert "1,000 messages a second (p99 under 250 ms)" in page


def test_a_chart_has_a_line_for_each_series_and_parts_without_figures_have_none() -> None:
    (chart,) = charts({"sustained": SUSTAINED})
    assert [(line["label"], line["x"], line["y"]) for line in chart["series"]] == [
        ("p50", [1000, 10_000], [7.04, 9.5]),
        ("p99", [1000, 10_000], [14.2, 1561.4]),
    ]
    assert charts({}) == []


def test_what_a_record_costs_and_what_fills_is_drawn_too() -> None:
    steps = [{**step, "cpu_us": {"spark": 900.0, "feed": 100.0}} for step in STEPS]
    assert [chart["name"] for chart in charts({"sustained": SUSTAINED | {"steps": steps}})] == ["sustained", "sustained-cost"]
    assert "| 1,000 | 7.04 | 14.2 | 1,000 | yes |" in "\n".join(sustained(SUSTAINED | {"steps": steps}))
    (bars,) = charts({"hydrate": {"loads": {"small": {"messages_per_s": 80_000}}, "peers": {"other": {"cold": RATE, "warm": RATE}}}})
    assert (bars["kind"], [series["y"] for series in bars["series"]]) == ("bars", [[80_000], [200_000], [200_000]])


def test_what_java_has_learnt_is_told_apart_from_what_keys_cost() -> None:
    step = {"keys": 1000, "p50_ms": 8.0, "p99_ms": 30.0, "spark_heap_mb": 100.0, "memory_mb": {"spark": 500.0}}
    steps = [step | {"cpu_us": {"spark": 900.0, "feed": 100.0}}, step | {"keys": 10_000, "cpu_us": {"spark": 800.0, "feed": 120.0}}]
    control = {"keys": 1000, "held": 10_000, "cpu_us": {"spark": 600.0, "feed": 100.0}}
    found = {"rate": 1000, "steps": steps, "control": control, "bytes_per_key": {"feed": 600}}
    assert "Once more over the first 1,000 keys, at the end, with 10,000 there: 700 µs." in "\n".join(keys(found))
    (cost, _) = charts({"keys": found})
    assert [line["label"] for line in cost["series"]] == ["spark", "feed", "spark, again at the end"]


def test_the_fill_is_told_as_a_ratio() -> None:
    peer = {"version": "1", "settings": "", "cold": RATE, "warm": RATE, "wrong": 0}
    load = {"messages_per_s": 80_000, "server_messages_per_s": 60_000, "wrong": 0}
    found = {"messages": 2, "keys": 1, "loads": {"small": load}, "peers": {"other": peer}, "ratio": {"other": {"cold": 0.4, "warm": 0.2}}}
    assert "We fill at 0.4 times the rate of other that has just started too, and at 0.2 times that of a warm one." in "\n".join(hydrate(found))


def test_a_twin_stands_beside_the_peers() -> None:
    ours = {"p50_ms": 8.0, "p99_ms": 30.0, "pause_ms": 700.0, "all_p99_ms": 400.0, "seconds": 24.0}
    peer = {**ours, "all_p99_ms": 60.0, "p50_ratio": 2.0, "p99_ratio": 1.5, "all_p99_ratio": 0.15, "version": "1", "settings": "", "pause_ms": None}
    page = "\n".join(latency_peers({**ours, "peers": {"other": peer}, "twin": {**ours, "pause_ms": 70.0, "all_p99_ms": 30.0}}))
    assert "| the same with a twin | 8 | 30 | 70 | 30 |" in page
    assert "| other | 8 | 30 | – | 60 | 2 | 1.5 | 0.15 | 2 |" in page
    assert "| other | 8 | 30 | – | 60 | 2 | 1.5 | 0.15 | – |" in "\n".join(latency_peers({**ours, "peers": {"other": peer}}))


def test_every_part_of_the_suite_has_its_section() -> None:
    names = [name for name, _, _ in SECTIONS]
    assert [part.name for part in SUITE] == names
    assert set(BENDS) | set(MAKERS) < set(names)
