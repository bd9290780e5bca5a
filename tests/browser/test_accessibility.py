"""axe finds nothing on any view, in light and dark, at a desk and on a phone (WCAG 2.2 AA)."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import ViewportSize, expect

from bench.stack import Stack

from .axe import expect_nothing
from .conftest import PHONE, WIDE, OpenPage
from .visit import Visit


def the_menu(visit: Visit) -> None:
    visit.find("panel-menu").first.click()
    expect(visit.find("solo").first).to_be_visible()


def the_shortcuts(visit: Visit) -> None:
    visit.page.keyboard.press("Alt+Shift+KeyH")
    expect(visit.page.get_by_role("dialog")).to_be_visible()


def the_charts(visit: Visit) -> None:
    visit.find("charts").click()
    visit.find("chart-count").locator("summary").click()


def the_operator(visit: Visit) -> None:
    visit.find("operator").click()
    expect(visit.find("topic-users").locator("option")).not_to_have_count(0)


def the_filter(visit: Visit) -> None:
    """A column's panel, with a filter that cannot be and one that finds nothing."""
    visit.button("Options of age").click()
    visit.page.get_by_label("What to compare with").fill("old")
    visit.button("Apply").click()
    expect(visit.page.get_by_text("Write a whole number")).to_be_visible()
    expect_nothing(visit, "a filter that is none")
    visit.page.get_by_label("What to compare with").fill("-7")
    visit.button("Apply").click()
    expect(visit.find("picture")).to_contain_text("No row matches")


def the_columns(visit: Visit) -> None:
    visit.button("Close").click()
    visit.button("Show all rows").click()
    visit.button("Columns").click()
    expect(visit.page.get_by_role("checkbox", name="email")).to_be_checked()


def the_details(visit: Visit) -> None:
    visit.button("Close").click()
    visit.rows.nth(3).dblclick()
    expect(visit.find("details")).to_be_visible()


def the_export(visit: Visit) -> None:
    visit.button("Close").click()
    visit.button("Pause").click()
    visit.button("Export").click()
    expect(visit.find("export-parquet")).to_be_visible()


def an_unknown_table(visit: Visit) -> None:
    visit.page.evaluate("location.hash = '#table=nobody'")
    expect(visit.find("problem")).to_contain_text("No such table")


GRID_STATES = {
    "nothing found": the_filter,
    "columns": the_columns,
    "row details": the_details,
    "paused, export": the_export,
    "unknown table": an_unknown_table,
}

VIEWS: dict[str, Callable[[Visit], None]] = {
    "panels": lambda visit: None,
    "menu": the_menu,
    "shortcuts": the_shortcuts,
    "charts": the_charts,
    "operator": the_operator,
}


def test_the_login_and_a_wrong_key(open_page: OpenPage) -> None:
    visit = open_page()
    expect_nothing(visit, "login")
    visit.log_in("not the key")
    expect(visit.find("problem")).to_be_visible()
    expect_nothing(visit, "wrong key")


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view(open_page: OpenPage, demo_stack: Stack, view: str, size: ViewportSize) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}", table=None, size=size)
    expect(visit.find("grid").locator("tbody tr").first).to_be_visible()
    VIEWS[view](visit)
    expect_nothing(visit, view)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["desk", "phone"])
def test_every_state_of_a_grid(open_page: OpenPage, demo_stack: Stack, size: ViewportSize) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}", size=size)
    visit.wait_for_rows("users_ui")
    for state, reach in GRID_STATES.items():
        reach(visit)
        expect_nothing(visit, state)
