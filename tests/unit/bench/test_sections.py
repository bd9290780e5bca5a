"""Figures as the page tells them."""

import pytest

from bench.charts import charts
from bench.sections import SECTIONS, spread, sustained, table, told
from bench.suite import SUITE

STEPS = [
    {"rate": 1000, "p50_ms": 7.04, "p99_ms": 14.2, "kept_up": True},
    {"rate": 10_000, "p50_ms": 9.5, "p99_ms": 1561.4, "kept_up": False},
]
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
    assert "| 10,000 | 9.5 | 1,561 | **no** |" in page
    assert "1,000 messages a second (p99 under 250 ms)" in page


def test_a_chart_has_a_line_for_each_series_and_parts_without_figures_have_none() -> None:
    (chart,) = charts({"sustained": SUSTAINED})
    assert [(line["label"], line["x"], line["y"]) for line in chart["series"]] == [
        ("p50", [1000, 10_000], [7.04, 9.5]),
        ("p99", [1000, 10_000], [14.2, 1561.4]),
    ]
    assert charts({}) == []


def test_every_part_of_the_suite_has_its_section() -> None:
    assert [part.name for part in SUITE] == [name for name, _, _ in SECTIONS]
