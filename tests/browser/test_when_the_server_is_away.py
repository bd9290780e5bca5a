"""The server is killed, or not there yet, while a person looks: V6. Nothing is shown as live that is not."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from bench.handmade import TABLE, Handmade
from bench.stack import KEY
from tablecast.kafka.broker import EmbeddedBroker
from tests.installed import Installed

from .axe import expect_nothing
from .conftest import WIDE, Visiting
from .serving import ServerAlone
from .visit import SERVER_IS_DOWN, Visit

MANY_ROWS = 530_000
FAR = 500_000
RESUME_SECONDS = 5.0
# A change of a row changes neither its name nor its age, so each stays where it stands.
SORT, FILTER = "name:asc", json.dumps({"op": "ge", "column": "age", "value": "3"})

# Up and down within some rows, in every frame that the screen shows, until it is told to stop; and whether there was ever nothing to see.
SCROLL = """() => {
  const pane = document.querySelector('.live-table-scroll');
  const [top, seen] = [pane.scrollTop, (window.scrolling = { on: true, frames: 0, blank: 0 })];
  let step = 9;
  const go = () => {
    if (!seen.on) return;
    seen.frames += 1;
    seen.blank += document.querySelectorAll('tbody tr').length === 0;
    if (Math.abs(pane.scrollTop + step - top) > 560) step = -step;
    pane.scrollTop += step;
    requestAnimationFrame(go);
  };
  requestAnimationFrame(go);
}"""
STOP = "() => { scrolling.on = false; return scrolling; }"
# As far as it scrolls up and down.
ROWS_AROUND = 25

Serving = Callable[[int], tuple[ServerAlone, Handmade]]


@pytest.fixture
def serving(broker: EmbeddedBroker, topic_name: Callable[[str], str], installed: Installed, tmp_path: Path, jars_dir: Path) -> Iterator[Serving]:
    """A server of so many rows, started, and who writes them."""
    started: list[tuple[ServerAlone, Handmade]] = []

    def serve(count: int) -> tuple[ServerAlone, Handmade]:
        rows = Handmade(broker.kafka, topic_name("")[-60:].strip("-."), count)
        rows.go_live()
        server = ServerAlone(installed, tmp_path, jars_dir, rows)
        started.append((server, rows))
        server.start()
        return server, rows

    yield serve
    for server, rows in started:
        server.kill()
        rows.end()


def one_in_view(visit: Visit) -> tuple[int, str]:
    """A row in the middle of the view: its place from 0 on, and its id."""
    row = visit.rows.nth(visit.rows.count() // 2)
    return int(row.get_attribute("aria-rowindex") or 0) - 2, row.get_attribute("data-row-id") or ""


def id_at(server: ServerAlone, place: int) -> str:
    """Of the row that stands there as the server has it; rows are made so that the user tells the id."""
    [row] = server.stack.rows(TABLE, offset=place, sort=SORT, filter=FILTER)["rows"]
    return f"0-{int(row['userId'][1:])}"


def rows_far_down(server: ServerAlone, visiting: Visiting) -> Visit:
    """At row 500,000 of a table that is sorted and filtered."""
    visit = visiting(f"{server.stack.url}/#key={quote(KEY)}&table={TABLE}&sort={SORT}&filter={quote(FILTER)}", WIDE)
    visit.wait_for_rows(TABLE)
    assert visit.range()[2] > FAR
    visit.find("goto").fill(str(FAR))
    visit.find("goto").press("Enter")
    expect(visit.find("range")).to_have_text(re.compile(rf"^rows {FAR:,}-"))
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
    return visit


def test_goes_on_at_row_500_000_of_a_sorted_and_filtered_table_when_the_server_was_killed(serving: Serving, visiting: Visiting) -> None:
    """Killed and started again while somebody scrolls, who goes on scrolling all the time."""
    server, rows = serving(MANY_ROWS)
    server.wait_until_ready()
    visit = rows_far_down(server, visiting)
    visit.page.evaluate(SCROLL)
    with visit.allowing(*SERVER_IS_DOWN):
        server.kill()
        expect(visit.find("state")).to_have_text("reconnecting")
        expect(visit.find("trouble")).to_contain_text("Rows as of")
        assert abs(visit.range()[0] - FAR) <= ROWS_AROUND
        server.start()
        back = server.wait_until_ready()
        expect(visit.find("state")).to_have_text("live", timeout=1000 * RESUME_SECONDS)
        expect(visit.find("grid")).to_have_attribute("aria-busy", "false", timeout=1000 * RESUME_SECONDS)
    assert time.monotonic() - back < RESUME_SECONDS
    scrolled = visit.page.evaluate(STOP)
    assert scrolled["frames"] > 0
    assert scrolled["blank"] == 0
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
    assert abs(visit.range()[0] - FAR) <= ROWS_AROUND
    place, row = one_in_view(visit)
    shown = visit.page.locator(f'tbody tr[data-row-id="{row}"]')
    assert id_at(server, place) == row, "where the server has it"
    before = shown.inner_text()
    rows.change(int(row.removeprefix("0-")))
    expect(shown).not_to_have_text(before)


def test_logs_in_while_the_server_is_away_and_is_let_in_when_it_comes_back(serving: Serving, visiting: Visiting) -> None:
    server, _ = serving(100)
    server.wait_until_ready()
    visit = visiting(f"{server.stack.url}/#table={TABLE}", WIDE)
    expect(visit.find("login")).to_be_visible()
    with visit.allowing(*SERVER_IS_DOWN):
        server.kill()
        visit.log_in(KEY)
        expect(visit.page.get_by_role("heading", name="The server does not answer")).to_be_visible()
        expect(visit.find("away")).to_contain_text("keeps trying")
        expect(visit.find("state")).to_have_text("reconnecting")
        expect(visit.find("problem")).to_have_count(0)
        expect(visit.find("grid")).to_have_count(0)
        expect_nothing(visit, "a login while the server is away")
        server.start()
        visit.wait_for_rows(TABLE)
    expect(visit.find("away")).to_have_count(0)
