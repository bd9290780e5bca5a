"""axe finds nothing on any view, in light and dark, at a desk and on a phone (WCAG 2.2 AA)."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import ViewportSize, expect

from bench.stack import REPOSITORY, Stack

from .conftest import PHONE, WIDE, OpenPage
from .visit import Visit

AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
  .violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' ')}`)"""


def expect_nothing(visit: Visit, view: str) -> None:
    """Evaluated from outside, as a page with a strict content security policy would not run it."""
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        visit.page.evaluate(AXE.read_text())
        assert visit.page.evaluate(RUN) == [], f"{view}, {scheme}"


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
