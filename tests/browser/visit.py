"""A tab as a person has one, with an ear for everything that it complains of."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Locator, Page, Request, Response, WebSocket, expect

PATIENCE_MS = 60_000
# What Chromium itself says in the console when nobody listens, or when the listener dies.
SERVER_IS_DOWN = (r"WebSocket connection to .* failed", r"net::ERR_CONNECTION_(REFUSED|RESET)")
RANGE = re.compile(r"rows ([\d,]+)-([\d,]+) of ([\d,]+)")


class Visit:
    """One tab. A console error or warning, an uncaught error or rejection, a request that fails or is refused: each fails the test."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.sent: list[dict[str, Any]] = []
        """What the page said to the server over its newest socket."""
        self.socket: WebSocket | None = None
        self._allowed: list[re.Pattern[str]] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._console)
        page.on("pageerror", self._error)
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        page.on("websocket", self._dialled)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complain(f"console {message.type}: {message.text}")

    def _error(self, error: Error) -> None:
        self._complain(f"uncaught: {error}")

    def _failed(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED":
            # The page itself gave it up, as it does when it is left.
            return
        self._complain(f"request failed: {request.method} {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self._complain(f"request refused: {response.request.method} {response.url} {response.status}")

    def _dialled(self, socket: WebSocket) -> None:
        self.socket = socket
        self.sent = sent = []
        socket.on("framesent", lambda payload: sent.append(json.loads(payload)))

    @property
    def open(self) -> int:
        """How many subscriptions the page has asked for, and not closed again."""
        kinds = [message["type"] for message in self.sent]
        return kinds.count("open") - kinds.count("close")

    def _complain(self, what: str) -> None:
        if not any(pattern.search(what) for pattern in self._allowed):
            self.complaints.append(what)

    @contextmanager
    def allowing(self, *patterns: str) -> Iterator[None]:
        """Complaints like these are what the test itself causes, as long as the context lasts."""
        before, self._allowed = self._allowed, [*self._allowed, *map(re.compile, patterns)]
        try:
            yield
        finally:
            self._allowed = before

    def find(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def log_in(self, key: str) -> None:
        self.find("key").fill(key)
        self.find("enter").click()

    def wait_for_rows(self, table: str) -> None:
        """Until the grid shows this table, live."""
        expect(self.find("grid")).to_have_attribute("data-table", table)
        expect(self.find("grid")).to_have_attribute("aria-busy", "false")
        expect(self.find("range")).to_have_text(RANGE)
        expect(self.rows.first).to_be_visible()
        expect(self.find("state")).to_have_text("live")

    @property
    def rows(self) -> Locator:
        """Those that are painted: the ones in view and a few around them."""
        return self.find("grid").locator("tbody tr")

    def row_of(self, user_id: str) -> Locator:
        return self.rows.filter(has=self.page.get_by_role("gridcell", name=user_id, exact=True))

    def range(self) -> tuple[int, int, int]:
        """First row, last row and total, as the page says them."""
        match = RANGE.fullmatch(self.find("range").inner_text())
        assert match
        first, last, total = (int(number.replace(",", "")) for number in match.groups())
        return first, last, total

    def turn(self, button: str) -> tuple[int, int, int]:
        """Turns the page, and returns the range once it has been turned."""
        before = self.range()[0]
        self.button(button).click()
        expect(self.find("range")).not_to_have_text(re.compile(rf"rows {before:,}-"))
        expect(self.find("grid")).to_have_attribute("aria-busy", "false")
        return self.range()

    def turn_to_the_end(self) -> tuple[int, int, int]:
        """The newest rows stand at the end, and the view stays there while more come."""
        if self.button("Last").is_enabled():
            self.button("Last").click()
        expect(self.button("Last")).to_be_disabled()
        expect(self.find("grid")).to_have_attribute("aria-busy", "false")
        return self.range()

    def wait_for_newest(self, user_id: str) -> Locator:
        """The row of this user, once it shows up at the end."""
        row = self.row_of(user_id)
        self.turn_to_the_end()
        expect(row).to_have_count(1)
        return row

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file)
