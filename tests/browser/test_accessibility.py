"""axe finds nothing on any view, in light and dark, at a desk and on a phone (WCAG 2.2 AA)."""

from collections.abc import Callable
from typing import Literal
from urllib.parse import quote

import pytest
from playwright.sync_api import ViewportSize, expect

from bench.stack import Stack

from .axe import expect_nothing
from .conftest import PHONE, WIDE, OpenPage
from .visit import Visit

# Of text of this size, by WCAG 2.2 AA.
CONTRAST = 4.5
# A cell in every state that tints it, in a grid of its own under the page's styles: the real one changes its cells while one looks.
INKS = """() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const [red, green, blue] = rgba(color).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return rgba(backgroundColor)[3] === 255 ? backgroundColor : groundOf(element.parentElement);
  };
  const within = (parent, tag, name = '') => parent.appendChild(Object.assign(document.createElement(tag), { className: name }));
  const host = within(document.body, 'live-table');
  const states = [];
  for (const phase of ['live', 'stale']) {
    const grid = within(host, 'section', 'live-table');
    grid.dataset.phase = phase;
    const body = within(within(grid, 'table'), 'tbody');
    for (const row of ['', 'odd', 'selected']) {
      for (const cell of ['', 'chosen', 'flash', 'fading', 'chosen live-table-flash', 'chosen live-table-fading']) {
        for (const look of ['value', 'null', 'empty']) {
          const element = within(within(body, 'tr', `live-table-${row}`), 'td', `live-table-${cell} live-table-${look}`);
          const [one, other] = [light(getComputedStyle(element).color), light(groundOf(element))];
          states.push([`${phase} ${row} ${cell} ${look}`, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)]);
        }
      }
    }
  }
  host.remove();
  return states;
}"""


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


def some_cells(visit: Visit) -> None:
    """Beside the row that is selected, a range that is being chosen by taps."""
    visit.find("choose-cells").click()
    for row in (1, 2):
        visit.rows.nth(row).locator("td").first.click()
    expect(visit.page.locator("td.live-table-chosen")).to_have_count(2)


def the_export(visit: Visit) -> None:
    visit.button("Done").click()
    visit.button("Pause").click()
    visit.button("Export").click()
    expect(visit.find("export-parquet")).to_be_visible()


def a_missing_row(visit: Visit) -> None:
    visit.page.evaluate("location.hash = '#table=users_ui&row=nobody'")
    expect(visit.find("missing")).to_contain_text("nobody")


def an_unknown_table(visit: Visit) -> None:
    visit.page.evaluate("location.hash = '#table=nobody'")
    expect(visit.find("problem")).to_contain_text("No such table")


GRID_STATES = {
    "nothing found": the_filter,
    "columns": the_columns,
    "row details": the_details,
    "cells": some_cells,
    "paused, export": the_export,
    "missing row": a_missing_row,
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


def test_a_list_of_tables_that_cannot_be_read(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page()
    visit.page.route("**/api/tables", lambda route: route.fulfill(status=500, body="{}"))
    with visit.allowing(r"\b500\b"):
        visit.log_in(demo_stack.key)
        expect(visit.find("problem")).to_be_visible()
        expect_nothing(visit, "no list of tables")
        visit.page.unroute("**/api/tables")
        expect(visit.find("table-users_ui")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tinted_cell_can_be_read(open_page: OpenPage, demo_stack: Stack, scheme: Literal["light", "dark"]) -> None:
    """Also those that axe does not come to see: what flashes, and what is null in a row that is selected."""
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.page.emulate_media(color_scheme=scheme, reduced_motion="no-preference")
    states = visit.page.evaluate(INKS)
    assert len(states) == 2 * 3 * 6 * 3
    assert [(state, round(ratio, 2)) for state, ratio in states if ratio < CONTRAST] == []
