"""What the page says while there is nothing, too little, or something else to show: H4, V4 to V7. Nothing is shown as live that is not."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import WebSocketRoute, expect

from bench.stack import KEY
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.status import Progress
from tests.installed import Installed

from .axe import expect_nothing
from .conftest import WIDE, Visiting
from .handwritten import COLUMNS, TABLE, Handwritten
from .serving import ServerAlone
from .visit import PATIENCE_MS, SERVER_IS_DOWN, Visit

# Rows of another window would be no rows of this one, which would be seen to wait for its own.
STRAYS = """() => {
  window.strays = 0;
  const look = () => (window.strays += document.querySelectorAll('tr.live-table-waiting').length);
  new MutationObserver(look).observe(document.querySelector('tbody'), { subtree: true, childList: true, attributes: true });
}"""
OTHER_COLUMNS = {"userId": "string", "city": "string"}
OTHER_KEY = "another key"
FAR = 3_000
LOOK_MS = 20
CHANGES = 30
ECHO = 1_000_000
# One request for each of the three things that a page asks by HTTP is refused with the key.
KEY_IS_REFUSED = (r"request refused: .* 401", r"status of 401")
SOCKET_IS_DROPPED = (r"WebSocket connection to .* failed", r"net::ERR_INTERNET_DISCONNECTED", r"net::ERR_NETWORK_CHANGED")
# The socket that Playwright stands in for another one says that it is open while that one is closing.
SOCKET_IS_POSED = (r"WebSocket is already in CLOSING or CLOSED state",)

# Looks after every change of the page, which is at least as often as it is painted.
BLANKS = """() => {
  window.blanks = 0;
  const look = () => (window.blanks += document.querySelectorAll('[data-testid=grid] tbody tr[data-row-id]').length === 0);
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


@pytest.fixture
def pipeline(broker: EmbeddedBroker, topic_name: Callable[[str], str]) -> Iterator[Handwritten]:
    written = Handwritten(broker.kafka, topic_name("")[-60:].strip("-."))
    written.run()
    yield written
    written.end()


@pytest.fixture
def server(pipeline: Handwritten, installed: Installed, tmp_path: Path, jars_dir: Path) -> Iterator[ServerAlone]:
    """Of the generations that the test writes, started."""
    alone = ServerAlone(installed, tmp_path, jars_dir, pipeline)
    alone.start()
    yield alone
    alone.kill()


class SlowLine:
    """Between a page and its server. What the server says stays on its way while it is held."""

    def __init__(self, page: WebSocketRoute) -> None:
        self.asked: list[dict[str, Any]] = []
        self.on_its_way: list[str | bytes] = []
        self.held = False
        self._page = page
        self._server = page.connect_to_server()
        page.on_message(self._ask)
        self._server.on_message(self._say)

    def windows(self) -> list[int]:
        """The offsets that the page asked for, one after the other."""
        return [message["offset"] for message in self.asked if message["type"] == "move"]

    def let_go(self) -> list[dict[str, Any]]:
        """What was on its way arrives, and is returned."""
        self.held, arrived = False, self.on_its_way
        for message in arrived:
            self._page.send(message)
        return [json.loads(message) for message in arrived]

    def sent(self, visit: Visit) -> list[dict[str, Any]]:
        """All that the server has sent up to now: it answers in order."""
        self._server.send(json.dumps({"type": "ping", "id": ECHO}))
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while (heard := [json.loads(message) for message in self.on_its_way])[-1:] != [{"type": "pong", "id": ECHO}]:
            assert time.monotonic() < deadline, f"no answer behind {len(heard)} messages"
            visit.page.wait_for_timeout(LOOK_MS)
        self.on_its_way.pop()
        return heard[:-1]

    def say(self, message: dict[str, Any]) -> None:
        """As if it had been on its way for long."""
        self._page.send(json.dumps(message))

    def _ask(self, message: str | bytes) -> None:
        self.asked.append(json.loads(message))
        self._server.send(message)

    def _say(self, message: str | bytes) -> None:
        if self.held:
            self.on_its_way.append(message)
        else:
            self._page.send(message)


def go_to(visit: Visit, row: int) -> None:
    visit.find("goto").fill(f"{row:,}")
    visit.find("goto").press("Enter")
    expect(visit.find("range")).to_have_text(re.compile(rf"^rows {row:,}-"))


def until_dialled(visit: Visit, sockets: list[WebSocketRoute], times: int) -> None:
    """Until the page, by itself, has called the server so often."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while len(sockets) < times:
        assert time.monotonic() < deadline, f"called {len(sockets)} times instead of {times}"
        visit.page.wait_for_timeout(LOOK_MS)


def over_a_slow_line(visiting: Visiting, server: ServerAlone) -> tuple[Visit, SlowLine]:
    visit, lines = visiting("about:blank", WIDE), list[SlowLine]()
    visit.page.route_web_socket("**/ws", lambda socket: lines.append(SlowLine(socket)))
    visit.page.goto(f"{server.stack.url}/#key={quote(KEY)}&table={TABLE}")
    visit.wait_for_rows(TABLE)
    [line] = lines
    return visit, line


def until_shown(server: ServerAlone, name: str) -> None:
    """Until the server has it in its first row."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while server.stack.rows(TABLE)["rows"][0]["name"] != name:
        assert time.monotonic() < deadline, f"{name} does not come"


def people(count: int) -> list[dict[str, object]]:
    return [{"userId": f"u{number}", "name": f"name {number}", "age": str(number % 90)} for number in range(count)]


def look_at(visiting: Visiting, server: ServerAlone, more: str = "") -> Visit:
    return visiting(f"{server.stack.url}/#key={quote(KEY)}&table={TABLE}{more}", WIDE)


def test_sees_a_table_filled_empty_living_stale_and_a_swap_that_failed(pipeline: Handwritten, server: ServerAlone, visiting: Visiting) -> None:
    pipeline.tell(1, "failed", error="there is no topic users")
    server.wait_until_alive()
    visit = look_at(visiting, server)
    expect(visit.find("state")).to_have_text("failed")
    expect(visit.find("filling")).to_contain_text("Generation 1 failed: there is no topic users.")
    expect_nothing(visit, "a first generation that failed")
    pipeline.tell(2, "hydrating", progress=Progress(300, 1200, 100))
    expect(visit.find("state")).to_have_text("filling")
    expect(visit.find("filling")).to_contain_text("300 of 1,200 records")
    expect(visit.find("progress")).to_have_js_property("value", 300)
    expect_nothing(visit, "filling")
    pipeline.tell(2, "hydrating", progress=Progress(900, 1200, 100))
    expect(visit.find("progress")).to_have_js_property("value", 900)
    pipeline.tell(2, "live")
    expect(visit.find("picture")).to_contain_text("No rows yet")
    expect(visit.find("state")).to_have_text("live")
    expect_nothing(visit, "empty")
    pipeline.rows(2, *people(2))
    visit.wait_for_rows(TABLE)
    fresh_ink = visit.rows.first.evaluate("row => getComputedStyle(row).color")
    pipeline.orchestrator(generation="2", state="live", lastError="generation 3: there is no topic users_v9")
    expect(visit.find("failure")).to_contain_text("there is no topic users_v9. Everybody still sees generation 2.")
    expect_nothing(visit, "a swap that failed")
    pipeline.fall_silent()
    expect(visit.find("state")).to_have_text("stale")
    expect(visit.find("trouble")).to_contain_text(re.compile(r"Rows as of .*The pipeline has not been heard of"))
    expect(visit.find("failure")).to_have_count(0)
    expect(visit.rows.first).not_to_have_css("color", fresh_ink)
    expect_nothing(visit, "stale")
    pipeline.run()
    expect(visit.find("state")).to_have_text("live")
    expect(visit.find("trouble")).to_have_count(0)


def test_takes_the_columns_of_a_swap_and_says_so_where_a_sorted_one_is_gone(pipeline: Handwritten, server: ServerAlone, visiting: Visiting) -> None:
    pipeline.tell(1, "live")
    pipeline.rows(1, *people(40))
    server.wait_until_ready()
    plain, by_age = look_at(visiting, server), look_at(visiting, server, "&sort=age:desc")
    for visit in (plain, by_age):
        visit.wait_for_rows(TABLE)
    plain.page.evaluate(BLANKS)
    pipeline.tell(2, "hydrating", OTHER_COLUMNS)
    pipeline.rows(2, *({"userId": f"v{number}", "city": "Bern"} for number in range(40)))
    pipeline.tell(2, "live", OTHER_COLUMNS)
    expect(plain.find("grid").locator("th")).to_have_text(list(OTHER_COLUMNS))
    expect(plain.rows.first.locator("td")).to_have_text(["v0", "Bern"])
    assert plain.page.evaluate("window.blanks") == 0
    expect(by_age.find("problem")).to_contain_text("age")
    expect(by_age.find("grid")).to_have_attribute("aria-busy", "true")
    expect(by_age.find("grid").locator("th")).to_have_text(list(COLUMNS))
    expect_nothing(by_age, "a sorted column that is gone")
    pipeline.tell(3, "hydrating")
    pipeline.rows(3, *people(50))
    pipeline.tell(3, "live")
    expect(by_age.find("problem")).to_have_count(0)
    expect(by_age.find("grid")).to_have_attribute("aria-busy", "false")
    expect(by_age.rows.first.locator("td").nth(2)).to_have_text("49")
    expect(plain.find("grid").locator("th")).to_have_text(list(COLUMNS))


def test_is_asked_for_the_key_again_when_the_server_has_another(pipeline: Handwritten, server: ServerAlone, visiting: Visiting) -> None:
    pipeline.tell(1, "live")
    pipeline.rows(1, *people(2))
    server.wait_until_ready()
    visit = look_at(visiting, server)
    visit.wait_for_rows(TABLE)
    with visit.allowing(*SERVER_IS_DOWN, *KEY_IS_REFUSED):
        server.kill()
        server.start(OTHER_KEY)
        expect(visit.find("login")).to_be_visible()
        expect(visit.find("problem")).to_contain_text("key")
        expect(visit.find("state")).to_have_text("refused")
        expect(visit.find("grid")).to_have_count(0)
        visit.log_in(OTHER_KEY)
        visit.wait_for_rows(TABLE)


def test_scrolls_on_without_a_network_and_finds_the_rows_there_when_it_is_back(
    pipeline: Handwritten, server: ServerAlone, visiting: Visiting
) -> None:
    pipeline.tell(1, "live")
    pipeline.rows(1, *people(FAR + 100))
    server.wait_until_ready()
    visit = visiting("about:blank", WIDE)
    sockets: list[WebSocketRoute] = []
    visit.page.route_web_socket("**/ws", lambda socket: sockets.append(socket.connect_to_server()))
    visit.page.goto(f"{server.stack.url}/#key={quote(KEY)}&table={TABLE}")
    visit.wait_for_rows(TABLE)
    with visit.allowing(*SOCKET_IS_DROPPED, *SOCKET_IS_POSED):
        sockets[-1].close()
        until_dialled(visit, sockets, 2)
        visit.wait_for_rows(TABLE)
        visit.page.context.set_offline(True)
        sockets[-1].close()
        expect(visit.find("state")).to_have_text("reconnecting")
        expect(visit.find("trouble")).to_contain_text("Rows as of")
        expect_nothing(visit, "reconnecting")
        go_to(visit, FAR)
        expect(visit.page.locator("tr.live-table-waiting").first).to_be_visible()
        visit.page.context.set_offline(False)
        visit.wait_for_rows(TABLE)
    expect(visit.page.locator("tr.live-table-waiting")).to_have_count(0)
    expect(visit.find("range")).to_have_text(re.compile(rf"^rows {FAR:,}-"))
    expect(visit.row_of(f"u{FAR - 1}")).to_be_visible()


def test_jumps_about_over_a_slow_line_and_gets_the_newest_window_and_nothing_of_an_older_one(
    pipeline: Handwritten, server: ServerAlone, visiting: Visiting
) -> None:
    pipeline.tell(1, "live")
    pipeline.rows(1, *people(FAR + 100))
    server.wait_until_ready()
    visit, line = over_a_slow_line(visiting, server)
    line.held = True
    for row in (500, 1_000, 1_500, 2_000, FAR):
        go_to(visit, row)
    expect(visit.find("grid")).to_have_attribute("aria-busy", "true")
    assert len(line.windows()) == 1, "one request is on its way, however often one goes elsewhere"
    arrived = line.let_go()
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
    expect(visit.row_of(f"u{FAR - 1}")).to_be_visible()
    first, newest = line.windows()
    assert first < 500 < FAR - 100 < newest < FAR, "of all that was wanted meanwhile the newest alone is asked for"
    visit.page.evaluate(STRAYS)
    late = next(message for message in arrived if message["type"] == "frame" and message["offset"] == first)
    line.say(late)
    line.say({**late, "request": 1_000, "revision": 1_000, "generation": 0})
    go_to(visit, FAR + 10)
    expect(visit.row_of(f"u{FAR + 9}")).to_be_visible()
    assert visit.page.evaluate("window.strays") == 0


def test_is_busy_for_a_while_and_then_sees_the_newest_rows_and_no_pile_of_older_ones(
    pipeline: Handwritten, server: ServerAlone, visiting: Visiting
) -> None:
    pipeline.tell(1, "live")
    pipeline.rows(1, *people(20))
    server.wait_until_ready()
    visit, line = over_a_slow_line(visiting, server)
    line.held = True
    for change in range(CHANGES):
        pipeline.rows(1, {**people(1)[0], "name": f"changed {change}"})
        until_shown(server, f"changed {change}")
    frames = [message for message in line.sent(visit) if message["type"] == "frame" and "0-0" in message["rows"]]
    assert 1 <= len(frames) <= 2, "what the page has not taken is not followed by more"
    line.let_go()
    expect(visit.row_of("u0")).to_contain_text(f"changed {CHANGES - 1}")
