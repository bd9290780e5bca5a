"""What a person does with the page, in a real Chromium, on the running demo: V1, V3, V6, V8."""

import re
import uuid
from urllib.parse import quote

import psutil
import pytest
from playwright.sync_api import ViewportSize, expect

from bench.stack import Stack

from .conftest import OpenPage, Send
from .subscriptions import expect_subscriptions
from .visit import SERVER_IS_DOWN

MANY_ROWS = 600
# Not all columns fit.
NARROW: ViewportSize = {"width": 380, "height": 700}
# Rows beyond those in view that a window may have, so that a small scroll finds them there.
MOST_AROUND = 150


def new_user() -> str:
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture
def many_rows(demo_stack: Stack, send: Send) -> int:
    """So many rows of users are there, at least."""
    for _ in range(demo_stack.rows("users_ui")["total"], MANY_ROWS):
        send("users", userId=new_user(), name="More", email="more@example.com", age=1)
    demo_stack.wait_for_rows("users_ui", MANY_ROWS)
    return MANY_ROWS


def test_logs_in_with_the_key_and_sees_rows(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page()
    expect(visit.page).to_have_title("Tablecast")
    visit.log_in(demo_stack.key)
    visit.wait_for_rows("users_ui")
    expect(visit.find("grid").locator("th")).to_have_text(["userId", "name", "email", "age"])
    expect(visit.rows.first.locator("td").nth(0)).to_have_text(re.compile(r"^\s*u\d{5}\s*$"))
    expect(visit.rows.first.locator("td").nth(2)).to_contain_text("@")


def test_sees_a_row_that_is_produced_after_the_page_was_opened(open_page: OpenPage, demo_stack: Stack, send: Send) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.turn_to_the_end()
    user_id = new_user()
    expect(visit.row_of(user_id)).to_have_count(0)
    send("users", userId=user_id, name="Zoë 🦊", email="zoe@example.com", age=9007199254740993)
    row = visit.wait_for_newest(user_id)
    expect(row.locator("td")).to_have_text([user_id, "Zoë 🦊", "zoe@example.com", "9,007,199,254,740,993"])


def test_sees_rows_tick_without_touching_anything(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    total = visit.range()[2]
    expect(visit.find("range")).not_to_have_text(re.compile(rf" of {total:,}$"))
    assert visit.range()[2] > total


def test_a_wrong_key_gets_a_clear_message_and_nothing_else(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page()
    visit.log_in("not the key")
    expect(visit.find("problem")).to_contain_text("key")
    expect(visit.find("problem")).to_have_count(1)
    expect(visit.find("state")).to_have_text("refused")
    expect(visit.find("login")).to_be_visible()
    expect(visit.find("grid")).to_have_count(0)
    expect(visit.page.get_by_role("navigation")).to_have_count(0)
    visit.log_in(demo_stack.key)
    visit.wait_for_rows("users_ui")
    expect(visit.find("problem")).to_have_count(0)


def test_without_a_key_is_told_so_at_once(open_page: OpenPage) -> None:
    visit = open_page()
    visit.log_in("")
    expect(visit.find("problem")).to_contain_text("There is no key.")
    expect(visit.find("grid")).to_have_count(0)


def test_without_an_address_is_told_so_at_once(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page()
    visit.find("url").fill("")
    visit.log_in(demo_stack.key)
    expect(visit.find("problem")).to_contain_text("There is no server URL.")
    expect(visit.find("grid")).to_have_count(0)


def test_opens_the_link_of_the_log_and_the_key_leaves_the_address_bar(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    assert visit.page.url == f"{demo_stack.url}/#table=users_ui"
    visit.page.reload()
    visit.wait_for_rows("users_ui")
    visit.page.go_back()
    assert demo_stack.key not in visit.page.url


def test_turns_pages_forward_and_back(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    first, last, total = visit.range()
    assert first == 1 < last < total
    expect(visit.button("Prev")).to_be_disabled()
    head = visit.rows.first.get_attribute("data-row-id")
    second = visit.turn("Next")[0]
    assert second in (last, last + 1), "what was at the end is at the top"
    end = visit.turn_to_the_end()
    assert end[0] > second
    expect(visit.rows.last).to_have_attribute("aria-rowindex", str(visit.range()[2] + 1))
    assert visit.turn("Prev")[0] < end[0]
    assert visit.turn("First")[:2] == (1, last)
    assert visit.rows.first.get_attribute("data-row-id") == head


def test_scrolls_and_only_what_is_seen_is_subscribed_to(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.rows.first.hover()
    visit.page.mouse.wheel(0, 5_000)
    expect(visit.find("range")).not_to_have_text(re.compile("rows 1-"))
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
    expect(visit.rows.first).to_have_attribute("data-row-id", re.compile("."))
    first, last, _ = visit.range()
    assert visit.rows.count() < last - first + 20
    windows = [message for message in visit.sent if message["type"] in ("open", "move") and message.get("table") != "orchestrator_status"]
    assert windows[-1]["offset"] <= first - 1 <= last <= windows[-1]["offset"] + windows[-1]["size"]
    assert all(window["size"] < last - first + 1 + MOST_AROUND for window in windows), windows
    # Of the table, and of what is live.
    expect_subscriptions(demo_stack, visit, 2)


def test_sorts_filters_and_searches_on_the_server(open_page: OpenPage, demo_stack: Stack, send: Send) -> None:
    user_id = new_user()
    send("users", userId=user_id, name="Searched", email="found@example.com", age=101)
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.button("age").click()
    visit.button("age").click()
    expect(visit.find("grid").locator("th[data-column=age]")).to_have_attribute("aria-sort", "descending")
    visit.find("search").fill(user_id)
    expect(visit.find("range")).to_have_text("rows 1-1 of 1")
    visit.button("Options of age").click()
    visit.page.get_by_label("What to compare with").fill("7")
    visit.button("Apply").click()
    expect(visit.find("picture")).to_contain_text("No row matches")
    visit.button("Remove: age is 7").click()
    expect(visit.row_of(user_id)).to_have_count(1)


def test_reads_on_where_rows_come_in_above(open_page: OpenPage, demo_stack: Stack, send: Send, many_rows: int) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}&sort=name:asc")
    visit.wait_for_rows("users_ui")
    visit.find("goto").fill(str(many_rows // 2))
    visit.find("goto").press("Enter")
    expect(visit.page.locator("tr[data-row-id] td:focus")).to_have_count(1)
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Space")
    selected = visit.page.locator("tbody tr[aria-selected=true]")
    id, place = selected.get_attribute("data-row-id"), int(selected.get_attribute("aria-rowindex") or 0)
    before = selected.bounding_box()
    for _ in range(5):
        send("users", userId=new_user(), name="AAA", email="above@example.com", age=1)
    row = visit.page.locator(f'tbody tr[data-row-id="{id}"]')
    # Of the demo's own rows some come in above too.
    expect(row).not_to_have_attribute("aria-rowindex", re.compile(f"^({'|'.join(str(place + by) for by in range(5))})$"))
    expect(row).to_have_attribute("aria-selected", "true")
    expect(row.locator("td:focus")).to_have_count(1)
    assert row.bounding_box() == before


def test_opens_a_link_to_a_row_that_stands_far_down(open_page: OpenPage, demo_stack: Stack, many_rows: int) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.find("goto").fill(str(many_rows - 100))
    visit.find("goto").press("Enter")
    active = visit.page.locator("tr[data-row-id] td:focus")
    expect(active).to_have_count(1)
    active.press("Space")
    id = visit.page.locator("tbody tr[aria-selected=true]").get_attribute("data-row-id")
    expect(visit.page).to_have_url(f"{demo_stack.url}/#table=users_ui&row={id}")
    visit = open_page(f"/#key={quote(demo_stack.key)}&row={id}")
    row = visit.page.locator(f'tbody tr[data-row-id="{id}"]')
    expect(row).to_have_attribute("aria-selected", "true")
    expect(row).to_have_attribute("aria-rowindex", str(many_rows - 100 + 1))
    expect(row).to_be_in_viewport()
    first, last, _ = visit.range()
    assert 300 < first < many_rows - 100 < last
    visit.page.evaluate("location.hash = '#table=users_ui&row=0-1000000'")
    expect(visit.find("missing")).to_contain_text("0-1000000")


def test_goes_through_the_grid_with_the_keyboard_alone(open_page: OpenPage, demo_stack: Stack) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.find("goto").press("Enter")
    visit.find("goto").fill("40")
    visit.find("goto").press("Enter")
    active = visit.page.locator("td:focus")
    expect(active.locator("..")).to_have_attribute("aria-rowindex", "41")
    visit.page.keyboard.press("Shift+ArrowRight")
    visit.page.keyboard.press("Control+c")
    expect(visit.find("announcement")).to_have_text("Copied 1 row × 2.")
    shown = visit.page.locator('tr[aria-rowindex="41"] td')
    visit.page.context.grant_permissions(["clipboard-read"])
    assert visit.page.evaluate("navigator.clipboard.readText()") == f"{shown.nth(0).inner_text()}\t{shown.nth(1).inner_text()}"
    visit.page.keyboard.press("Enter")
    expect(visit.find("details")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(visit.find("details")).to_have_count(0)
    expect(active).to_have_count(1)
    visit.page.set_viewport_size(NARROW)
    for key, column in (("End", "4"), ("Home", "1")):
        visit.page.keyboard.press(key)
        expect(active).to_have_attribute("aria-colindex", column)
        expect(active).to_be_in_viewport(ratio=0.99)


def test_switches_to_another_table(open_page: OpenPage, demo_stack: Stack, send: Send) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    user_id = new_user()
    send("users", userId=user_id, name="Ada", email="ada@example.com", age=36)
    for table in ("final_ui", "user_account", "accounts_ui", "account", "dead_letters", "users_ui"):
        visit.find(f"table-{table}").click()
        expect(visit.find("grid")).to_have_attribute("data-table", table)
        expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
        expect(visit.find(f"table-{table}")).to_have_attribute("aria-current", "true")
    visit.find("table-final_ui").click()
    visit.wait_for_rows("final_ui")
    row = visit.wait_for_newest(user_id).locator("td")
    expect(row).to_contain_text([user_id, "Ada", "ada@example.com", "36", "–", "–"])
    send("accounts", userId=user_id, accountType="SAVINGS", balance=12.5)
    expect(row).to_contain_text([user_id, "Ada", "ada@example.com", "36", "SAVINGS", "12.5"])


def test_the_server_dies_and_the_page_says_so_and_resumes_by_itself(open_page: OpenPage, demo_stack: Stack, send: Send, many_rows: int) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    first = visit.turn("Next")[0]
    shown = visit.rows.nth(visit.rows.count() // 2).get_attribute("data-row-id")
    server = demo_stack.process_of("server")
    with visit.allowing(*SERVER_IS_DOWN):
        server.kill()
        expect(visit.find("state")).to_have_text("reconnecting")
        expect(visit.find("reason")).not_to_be_empty()
        expect(visit.find("grid")).to_have_attribute("aria-busy", "true")
        # The rows stay meanwhile; the words about it take the room of the last ones.
        expect(visit.page.locator(f'tbody tr[data-row-id="{shown}"]')).to_be_visible()
        assert visit.range()[0] == first
        visit.wait_for_rows("users_ui")
    assert not psutil.pid_exists(server.pid)
    # How many rows fit below it depends on what the page has to say above them.
    assert visit.range()[0] == first
    expect(visit.page.locator(f'tbody tr[data-row-id="{shown}"]')).to_be_visible()
    user_id = new_user()
    send("users", userId=user_id, name="After", email="after@example.com", age=1)
    visit.wait_for_newest(user_id)
