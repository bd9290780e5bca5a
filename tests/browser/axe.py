"""axe in the page as it stands: WCAG 2.2 AA, in light and dark."""

from playwright.sync_api import Frame

from bench.stack import REPOSITORY

from .visit import Visit

AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
  .violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' ')}`)"""


def expect_nothing(visit: Visit, view: str, frame: Frame | None = None) -> None:
    """In the page, or in one that it shows in a frame. Evaluated from outside, as a page with a strict content security policy would not run it."""
    where = frame or visit.page
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        where.evaluate(AXE.read_text())
        found = where.evaluate(RUN)
        assert not found, f"{view}, {scheme}: {found}"
