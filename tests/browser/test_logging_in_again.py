"""The page in a frame of a portal that gives it tokens: one that expires is followed by the next, and a viewer is offered no swap."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, expect

from bench.stack import KEY, Stack, all_on
from tablecast.kafka.broker import EmbeddedBroker
from tests.installed import Installed
from tests.token_server import TokenServer

from .axe import expect_nothing
from .conftest import WIDE, Visiting
from .handwritten import TABLE, Handwritten
from .serving import READY_SECONDS
from .visit import Visit

LISTENS = re.compile(r"\[server\] listens at (?P<url>http://\S+)")
TOKEN_SECONDS = 4.0
PORTAL = """<!doctype html><title>Portal</title>
<iframe src="%s" style="border: 0; width: 100vw; height: 100vh" title="Tables"></iframe>
<script>
  addEventListener('message', async ({ source, origin, data }) => {
    if (data?.type === 'tablecast.token') source.postMessage({ type: 'tablecast.token', token: await (await fetch('/token')).text() }, origin);
  });
</script>"""


class Portal:
    """A page on another origin, where somebody is logged in with these roles."""

    def __init__(self, provider: TokenServer) -> None:
        self.roles = ["viewer"]
        self.given = 0
        self.shows = ""
        self._provider = provider
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str) -> str | None:
        if path == "/token":
            self.given += 1
            return self._provider.token("zoe", TOKEN_SECONDS, roles=self.roles)
        return PORTAL % self.shows if path == "/" else None

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(portal) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = portal.answer(self.path)
                self.send_response(204 if found is None else 200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write((found or "").encode())

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        return Handler


@pytest.fixture
def rows(broker: EmbeddedBroker, topic_name: Callable[[str], str]) -> Iterator[Handwritten]:
    written = Handwritten(broker.kafka, topic_name("")[-60:].strip("-."))
    written.tell(1, "building")
    written.rows(1, *({"userId": f"u{number}", "name": f"Name {number}", "age": str(number)} for number in range(20)))
    written.orchestrator(generation="1", state="live")
    written.tell(1, "live")
    written.run()
    yield written
    written.end()


@pytest.fixture
def portal(rows: Handwritten, installed: Installed, tmp_path: Path, jars_dir: Path) -> Iterator[Portal]:
    with TokenServer() as provider:
        portal = Portal(provider)
        settings = {
            **all_on(rows.servers),
            "changelog.prefix": rows.prefix,
            "server.frame_ancestors": f'["{portal.url}"]',
            "server.oidc.issuer": provider.issuer,
            "server.oidc.audience": provider.audience,
            "server.oidc.leeway_seconds": 0,
        }
        environment = {**installed.environment, "PYTHONPATH": "", "TABLECAST_SERVER_PSK": KEY}
        with Stack(tmp_path, jars_dir, "serve", settings, environment, [str(installed.program)]) as stack:
            portal.shows = stack.log.wait_for(LISTENS, READY_SECONDS)["url"]
            yield portal
        portal.close()


def framed(visit: Visit) -> FrameLocator:
    return visit.page.frame_locator("iframe")


def test_a_token_that_expires_is_followed_by_the_next_and_a_viewer_is_offered_no_swap(portal: Portal, rows: Handwritten, visiting: Visiting) -> None:
    portal.shows += f"/#table={TABLE}"
    visit = visiting(portal.url, WIDE)
    page = framed(visit)
    # A question that is under way when the token expires is refused, as it should be.
    with visit.allowing(r"\b401\b"):
        expect(page.get_by_test_id("state")).to_have_text("live")
        expect(page.get_by_test_id("grid").locator("tbody tr").first).to_be_visible()
        assert portal.given == 1
        page.get_by_test_id("grid").locator("tbody tr").first.click()
        visit.page.keyboard.press("Alt+Shift+O")
        expect(page.get_by_test_id("not-operator")).to_contain_text("You are logged in as a viewer")
        expect(page.get_by_test_id("apply")).to_have_count(0)
        expect_nothing(visit, "the operator panel of a viewer", visit.page.frames[1])
        portal.roles = ["operator"]
        # With the next token, which the page got by itself.
        expect(page.get_by_test_id("apply")).to_be_visible()
        assert portal.given >= 2
        expect(page.get_by_test_id("login")).to_have_count(0)
        page.get_by_test_id(f"table-{TABLE}").click()
        rows.rows(1, {"userId": "u0", "name": "Somebody else", "age": "1"})
        expect(page.get_by_role("gridcell", name="Somebody else")).to_be_visible()
        # Whoever is logged out at the portal sees the way in, and a calm word.
        portal.roles = []
        expect(page.get_by_role("heading", name="Log in to see the tables")).to_be_visible()
        expect(page.get_by_test_id("problem")).to_contain_text("gives no role here")
