"""What a person does with the page as a whole: V2, V8, V9, V10."""

import re
from urllib.parse import quote

from playwright.sync_api import expect

from bench.stack import Stack

from .conftest import PHONE, WIDE, OpenPage, Visiting
from .subscriptions import expect_subscriptions, until_subscriptions
from .visit import Visit

FIRST_PANELS = ["users_ui", "accounts_ui", "final_ui", "user_account", "dead_letters"]
SWIPE_STEPS = 10
# So many rows come while the tab sleeps.
SLEEP_ROWS = 8
MOST_BYTES = 600_000
INTERACTIVE_MS = 2_000
# The first rows are painted, and the page has time for what somebody does.
FIRST_ROWS = """const look = () => {
  if (document.querySelector('tbody tr[data-row-id]') === null) requestAnimationFrame(look);
  else requestIdleCallback(() => (window.interactiveAt = performance.now()));
};
requestAnimationFrame(look);"""
PICTURE = "(chart) => document.querySelector(`[data-testid=chart-${chart}] canvas`).toDataURL()"
# In the colour of the line or the bars itself, not only axes.
DRAWN = """(chart) => {
  const area = document.querySelector(`[data-testid=chart-${chart}] .chart-area`);
  const canvas = area.querySelector('canvas');
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const wanted = getComputedStyle(area).color.match(/\\d+/g).slice(0, 3).map(Number);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) found += data[at + 3] > 200 && wanted.every((part, index) => Math.abs(data[at + index] - part) < 40);
  return found > 20;
}"""
DARK, LIGHT = "rgb(19, 21, 25)", "rgb(243, 245, 248)"


def log_in_to_all(open_page: OpenPage, stack: Stack) -> Visit:
    visit = open_page(f"/#key={quote(stack.key)}", table=None)
    expect(visit.find("grid")).to_have_count(len(FIRST_PANELS))
    expect(visit.find("state")).to_have_text("live")
    return visit


def expect_panels(visit: Visit, shown: list[str]) -> None:
    """In this order, as soon as the page has drawn them."""
    expect(visit.find("panel")).to_have_count(len(shown))
    for place, table in enumerate(shown):
        expect(visit.find("panel").nth(place)).to_have_attribute("data-shows", table)


def test_sees_users_accounts_both_joins_and_dead_letters_side_by_side(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = log_in_to_all(open_page, demo_stack)
    expect_panels(visit, FIRST_PANELS)
    for table in FIRST_PANELS[:-1]:
        expect(visit.page.locator(f"[data-testid=grid][data-table={table}] tbody tr").first).to_be_visible()
    for figure, shape in {
        "row-count": r"^[\d,]+ rows$",
        "rate": r"/s$",
        "data-age": r"^0 s$",
        "generation": r"^generation \d+$",
        "last-swap": r"\d:\d\d",
    }.items():
        expect(visit.find(figure)).to_have_text(re.compile(shape))


def test_looks_at_charts_that_say_their_figures_in_words_too(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}&panel=charts", table=None)
    for chart in ("rate", "age", "balance", "count"):
        expect(visit.find(f"chart-{chart}").locator("canvas")).to_be_visible()
        visit.page.wait_for_function(DRAWN, arg=chart)
    before = visit.page.evaluate(PICTURE, "rate")
    visit.page.wait_for_function(f"(before) => ({PICTURE})('rate') !== before", arg=before)
    expect(visit.find("chart-rate").locator("figcaption")).to_contain_text(re.compile(r"/s now, between"))
    visit.find("chart-count").locator("summary").click()
    expect(visit.find("chart-count").get_by_role("rowheader", name="CHECKING")).to_be_visible()


def test_rearranges_the_panels_by_keys_and_by_hand_and_finds_them_so_again(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = log_in_to_all(open_page, demo_stack)
    visit.page.keyboard.press("Alt+Shift+KeyN")
    visit.page.keyboard.press("Alt+Shift+ArrowUp")
    moved = ["accounts_ui", "users_ui", *FIRST_PANELS[2:]]
    expect_panels(visit, moved)
    edge = visit.find("edge").first
    edge.focus()
    visit.page.keyboard.press("ArrowRight")
    expect(edge).to_have_attribute("aria-valuenow", "52")
    visit.find("panel-menu").first.click()
    visit.find("size-wider").first.click()
    expect(edge).to_have_attribute("aria-valuenow", "57")
    visit.page.reload()
    expect(visit.find("grid")).to_have_count(len(FIRST_PANELS))
    expect_panels(visit, moved)
    expect(visit.find("edge").first).to_have_attribute("aria-valuenow", "57")
    visit.find("panel").first.locator("header").drag_to(visit.find("panel").last.locator("header"))
    expect_panels(visit, ["dead_letters", *moved[1:-1], "accounts_ui"])
    visit.find("panel-menu").first.click()
    visit.find("reset").first.click()
    expect_panels(visit, FIRST_PANELS)


def test_gets_to_the_tables_without_a_mouse(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = log_in_to_all(open_page, demo_stack)
    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to the tables")).to_be_focused()
    visit.page.keyboard.press("Enter")
    expect(visit.find("panel").first).to_be_focused()
    visit.page.keyboard.press("Alt+Shift+KeyN")
    expect(visit.find("panel").nth(1)).to_be_focused()
    visit.page.keyboard.press("Alt+Shift+KeyH")
    expect(visit.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_role("dialog", name="Keyboard")).to_have_count(0)


def test_sends_a_link_to_what_is_seen(open_page: OpenPage, demo_stack: Stack) -> None:
    sorted_by = demo_stack.rows("accounts_ui", sort="balance:desc")["rows"][0]
    visit = open_page(f"/#key={quote(demo_stack.key)}&table=accounts_ui&sort=balance:desc", table=None)
    visit.wait_for_rows("accounts_ui")
    expect(visit.rows.first).to_contain_text(sorted_by["accountType"])
    expect(visit.rows.first.locator("td").nth(2)).to_have_text(re.compile(r"^\s*[\d,.]{5,}\s*$"))
    assert visit.page.url == f"{demo_stack.url}/#table=accounts_ui&sort=balance:desc"
    visit.find("show-all").click()
    assert visit.page.url == f"{demo_stack.url}/"
    expect(visit.find("grid")).to_have_count(len(FIRST_PANELS))
    visit.page.go_back()
    expect(visit.find("grid")).to_have_count(1)
    visit.wait_for_rows("accounts_ui")


def test_chooses_a_theme_that_stays(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page()
    body = visit.page.locator("body")
    expect(body).to_have_css("background-color", LIGHT)
    visit.page.emulate_media(color_scheme="dark")
    expect(body).to_have_css("background-color", DARK)
    visit.find("theme").select_option("light")
    expect(body).to_have_css("background-color", LIGHT)
    visit.page.emulate_media(color_scheme="light")
    visit.find("theme").select_option("dark")
    expect(body).to_have_css("background-color", DARK)
    visit.page.reload()
    expect(body).to_have_css("background-color", DARK)


def swipe(visit: Visit, by: int) -> None:
    """Up over the rows, as a finger does it."""
    devtools = visit.page.context.new_cdp_session(visit.page)
    box = visit.rows.nth(12).bounding_box()
    assert box
    for step in range(SWIPE_STEPS + 1):
        point = {"x": box["x"] + 120, "y": box["y"] + 10 - by * step / SWIPE_STEPS}
        devtools.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": [point]})
    devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_uses_a_phone(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}", table=None, size=PHONE)
    visit.wait_for_rows("users_ui")
    expect_panels(visit, ["users_ui"])
    expect(visit.rows.nth(8)).to_be_visible()
    swipe(visit, 300)
    expect(visit.find("range")).not_to_have_text(re.compile("^rows 1-"))
    expect(visit.page.locator("tr[aria-selected=true]")).to_have_count(0)
    visit.rows.nth(8).tap()
    expect(visit.page.locator("tr[aria-selected=true]")).to_have_count(1)
    for place in ("table-final_ui", "charts", "operator"):
        visit.find(place).click()
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place


def test_leaves_no_subscription_behind(open_page: OpenPage, demo_stack: Stack) -> None:
    until_subscriptions(demo_stack, 0)
    visit = log_in_to_all(open_page, demo_stack)
    # One a table, and what is live.
    until_subscriptions(demo_stack, len(FIRST_PANELS) + 1)
    visit.page.keyboard.press("Alt+Shift+KeyR")
    expect(visit.find("grid")).to_have_count(len(FIRST_PANELS) + 1)
    twins = visit.page.locator("[data-testid=grid][data-table=users_ui]")
    expect(twins).to_have_count(2)
    for twin in twins.all():
        expect(twin).to_have_attribute("aria-busy", "false")
        expect(twin.locator("tbody tr[data-row-id]").first).to_be_visible()
    expect_subscriptions(demo_stack, visit, len(FIRST_PANELS) + 1)
    visit.page.keyboard.press("Alt+Shift+KeyX")
    visit.page.keyboard.press("Alt+Shift+Enter")
    until_subscriptions(demo_stack, 2)
    visit.page.reload()
    visit.wait_for_rows("users_ui")
    expect(visit.find("generation")).to_be_visible()
    expect_subscriptions(demo_stack, visit, 2)
    visit.find("leave").click()
    until_subscriptions(demo_stack, 0)


def test_a_page_that_runs_again_sleeps_or_is_left_has_no_second_subscription(open_page: OpenPage, demo_stack: Stack) -> None:
    until_subscriptions(demo_stack, 0)
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    # Of the table, and of what is live.
    until_subscriptions(demo_stack, 2)
    visit.find("grid").evaluate("grid => { grid.dataset.first = 'yes'; }")
    visit.page.evaluate("import(document.querySelector('script[type=module]').src + '?again')")
    expect(visit.page.locator("[data-first]")).to_have_count(0)
    expect(visit.page.locator("tablecast-dashboard")).to_have_count(1)
    visit.wait_for_rows("users_ui")
    expect(visit.find("generation")).to_be_visible()
    expect_subscriptions(demo_stack, visit, 2)
    devtools = visit.page.context.new_cdp_session(visit.page)
    devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
    slept_through = demo_stack.rows("users_ui")["total"] + SLEEP_ROWS
    demo_stack.wait_for_rows("users_ui", slept_through)
    devtools.send("Page.setWebLifecycleState", {"state": "active"})
    visit.wait_for_rows("users_ui")
    expect(visit.find("range")).not_to_have_text(re.compile(rf" of {slept_through - SLEEP_ROWS:,}$"))
    assert visit.range()[2] >= slept_through
    expect_subscriptions(demo_stack, visit, 2)
    visit.page.goto("about:blank")
    until_subscriptions(demo_stack, 0)


def test_the_page_is_small_and_soon_there(visiting: Visiting, demo_stack: Stack) -> None:
    """What a first visit costs: nothing is in the browser's cache, and the key is in the link."""
    visit = visiting("about:blank", WIDE)
    visit.page.add_init_script(FIRST_ROWS)
    visit.page.goto(f"{demo_stack.url}/#key={quote(demo_stack.key)}")
    visit.page.wait_for_function("() => window.interactiveAt !== undefined")
    assert visit.page.evaluate("window.interactiveAt") < INTERACTIVE_MS
    sizes = visit.page.evaluate("performance.getEntries().filter((entry) => entry.transferSize).map((entry) => [entry.name, entry.transferSize])")
    files = {name: size for name, size in sizes if "/api/" not in name and "/metrics" not in name}
    assert any("main-" in name for name in files)
    assert sum(files.values()) < MOST_BYTES, files
    told = visit.page.evaluate("fetch(document.querySelector('script[type=module]').src).then(({ headers }) => headers.get('content-encoding'))")
    assert told in ("br", "gzip")
