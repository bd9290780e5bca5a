"""What a person changes about a grid: pause, columns, files, and how changes are shown: V8."""

import json
import re
import uuid
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet
import pytest
from playwright.sync_api import Locator, expect

from bench.stack import Stack

from .conftest import OpenPage, Send
from .visit import Visit

# Notes every cell that flashes, and how it looks then.
FLASHES = """() => {
  window.flashes = [];
  const look = (records) => {
    for (const { target } of records) {
      if (!target.matches('td.live-table-flash')) continue;
      const { backgroundColor } = getComputedStyle(target);
      const row = getComputedStyle(target.parentElement).backgroundColor;
      window.flashes.push([target.textContent, backgroundColor === row ? 'as its row' : 'bright']);
    }
  };
  new MutationObserver(look).observe(document.querySelector('tbody'), { subtree: true, attributes: true, attributeFilter: ['class'] });
}"""


@pytest.fixture
def visit(open_page: OpenPage, demo_stack: Stack) -> Visit:
    visit = open_page(f"/#key={quote(demo_stack.key)}")
    visit.wait_for_rows("users_ui")
    return visit


def heads(visit: Visit) -> Locator:
    return visit.find("grid").locator("th")


def expect_heads(visit: Visit, *names: str) -> None:
    expect(heads(visit)).to_have_text(list(names))


def width_of(visit: Visit, column: str) -> int:
    box = visit.page.locator(f"th[data-column={column}]").bounding_box()
    assert box
    return round(box["width"])


def test_pauses_what_ticks_and_goes_on_with_all_of_it(visit: Visit, demo_stack: Stack) -> None:
    visit.find("pause").click()
    expect(visit.find("paused")).to_have_text(re.compile(r"^paused at \d+:\d\d"))
    total = visit.range()[2]
    demo_stack.wait_for_rows("users_ui", total + 2)
    assert visit.range()[2] == total
    visit.find("pause").click()
    expect(visit.find("paused")).to_have_count(0)
    expect(visit.find("range")).not_to_have_text(re.compile(rf" of {total:,}$"))


def test_asks_for_the_same_rows_again(visit: Visit) -> None:
    [window] = [message for message in visit.sent if message["type"] == "open" and message["table"] == "users_ui"]
    assert visit.socket
    with visit.socket.expect_event("framesent", lambda payload: '"move"' in payload) as sent:
        visit.button("Refresh").click()
    asked = json.loads(sent.value)
    assert {key: asked[key] for key in ("sub", "offset", "size")} == {key: window[key] for key in ("sub", "offset", "size")}
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")


@pytest.mark.parametrize(("motion", "look"), [("no-preference", "bright"), ("reduce", "as its row")])
def test_sees_a_changed_cell_flash_unless_nothing_shall_move(visit: Visit, send: Send, motion: str, look: str) -> None:
    visit.page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
    user_id = f"f{uuid.uuid4().hex[:10]}"
    send("users", userId=user_id, name="Flash", email="flash@example.com", age=1)
    visit.find("table-final_ui").click()
    expect(visit.find("grid")).to_have_attribute("data-table", "final_ui")
    visit.find("search").fill(user_id)
    expect(visit.find("range")).to_have_text("rows 1-1 of 1")
    visit.page.evaluate(FLASHES)
    send("accounts", userId=user_id, accountType="FLASHED", balance=7.25)
    visit.page.wait_for_function("() => window.flashes.length >= 2")
    assert sorted(visit.page.evaluate("window.flashes")) == [["7.25", look], ["FLASHED", look]], "the cells that changed, and no others"


def test_chooses_moves_pins_and_widens_columns_and_finds_them_so_again(visit: Visit) -> None:
    expect_heads(visit, "userId", "name", "email", "age")
    before = width_of(visit, "name")
    grip = visit.page.locator("th[data-column=name] .live-table-grip")
    grip.hover()
    visit.page.mouse.down()
    for step in range(1, 7):
        grip_box = grip.bounding_box()
        assert grip_box
        visit.page.mouse.move(grip_box["x"] + 4 + 20, grip_box["y"] + 10 + step % 2)
    visit.page.mouse.up()
    widened = width_of(visit, "name")
    assert widened >= before + 100
    expect_heads(visit, "userId", "name", "email", "age")
    visit.page.locator("th[data-column=email]").drag_to(visit.page.locator("th[data-column=userId]"))
    expect_heads(visit, "email", "userId", "name", "age")
    visit.button("Columns").click()
    visit.page.get_by_role("checkbox", name="userId").uncheck()
    visit.button("Pin age").click()
    expect_heads(visit, "age", "email", "name")
    visit.page.reload()
    visit.wait_for_rows("users_ui")
    expect_heads(visit, "age", "email", "name")
    assert width_of(visit, "name") == widened
    expect(visit.page.locator("th[data-column=age]")).to_have_css("position", "sticky")
    expect(visit.rows.first.locator("td").nth(1)).to_contain_text("@")


@pytest.mark.parametrize("format", ["csv", "arrow", "parquet"])
def test_saves_the_sorted_and_filtered_view_as_a_file(open_page: OpenPage, demo_stack: Stack, send: Send, format: str) -> None:
    prefix = uuid.uuid4().hex[:8]
    for age in (3, 9007199254740993, 1, 2):
        send("users", userId=f"{prefix}-{age}", name="Zoë", email="saved@example.com", age=age)
    visit = open_page(f"/#key={quote(demo_stack.key)}&table=users_ui&sort=age:desc&search={prefix}", table=None)
    expect(visit.find("range")).to_have_text("rows 1-4 of 4")
    visit.button("Options of age").click()
    visit.page.get_by_label("How to compare").select_option("ne")
    visit.page.get_by_label("What to compare with").fill("2")
    visit.button("Apply").click()
    expect(visit.find("range")).to_have_text("rows 1-3 of 3")
    visit.button("Export").click()
    with visit.page.expect_download() as download:
        visit.find(f"export-{format}").click()
    assert download.value.suggested_filename == f"users_ui.{format}"
    expect(visit.find("announcement")).to_have_text(f"3 rows were saved as users_ui.{format}.")
    assert ages_in(Path(download.value.path()), format) == [9007199254740993, 3, 1]


def ages_in(file: Path, format: str) -> list[int]:
    if format == "csv":
        head, *lines = file.read_text().splitlines()
        assert head == '"userId","name","email","age"'
        return [int(line.rpartition(",")[2].strip('"')) for line in lines]
    if format == "parquet":
        table = pyarrow.parquet.read_table(file)
    else:
        with pyarrow.ipc.open_file(file) as reader:
            table = reader.read_all()
    assert table.column_names == ["userId", "name", "email", "age"]
    return [int(age) for age in table.column("age").to_pylist()]
