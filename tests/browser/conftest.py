"""The demo, started once for all tests of this folder, and real Chromium tabs to look at it."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from bench.chromium import chromium
from bench.stack import REPOSITORY, Stack
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer
from tests.installed import Installed

from .visit import PATIENCE_MS, Visit

STOP_SECONDS = 5.0
PICTURES = REPOSITORY / "artifacts" / "browser"
WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 780}

Visiting = Callable[[str, ViewportSize], Visit]
OpenPage = Callable[..., Visit]
Send = Callable[..., None]


@pytest.fixture(scope="package")
def demo_stack(installed: Installed, jars_dir: Path) -> Iterator[Stack]:
    """The demo of the installed wheel as a newcomer starts it, ended as one ends it: Ctrl-C, and within five seconds nothing is left."""
    stack = Stack(
        installed.folder / "state",
        jars_dir.absolute(),
        settings={"demo.rate": 2, "pipeline.linger_seconds": 1},
        environment={**installed.environment, "PYTHONPATH": ""},
        program=[str(installed.program)],
        folder=installed.folder,
    )
    with stack:
        stack.wait_until_open()
        assert Path(stack.process_of("server").cmdline()[0]).is_relative_to(installed.folder)
        for table, topic in (("users_ui", "users"), ("account", "accounts")):
            stack.wait_for_rows(table, Topics(stack.kafka, "source").end_offsets(topic)[0])
        yield stack
        ending = stack.stop()
    assert (ending.code, ending.left) == (0, ()), "\n".join(stack.log.lines[-40:])
    assert ending.seconds < STOP_SECONDS


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Not for the whole run: while it is open, no test of this thread could start an event loop of its own."""
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as running:
        yield running


@pytest.fixture
def visiting(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visiting]:
    """Opens tabs at addresses. Each leaves a picture, and none may have complained of anything."""
    visits: list[Visit] = []

    def visit_at(url: str, size: ViewportSize = WIDE) -> Visit:
        context = browser.new_context(viewport=size, locale="en-GB", has_touch=size is PHONE)
        visit = Visit(context.new_page())
        visits.append(visit)
        visit.page.goto(url)
        return visit

    yield visit_at
    name = re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")
    for number, visit in enumerate(visits, start=1):
        visit.picture(PICTURES / (f"{name}.png" if len(visits) == 1 else f"{name}-{number}.png"))
        visit.page.context.close()
    assert [complaint for visit in visits for complaint in visit.complaints] == []


@pytest.fixture
def open_page(visiting: Visiting, demo_stack: Stack) -> OpenPage:
    """Opens tabs at a path of the demo's server, at one table alone unless `table` is None."""

    def open_at(path: str = "/", table: str | None = "users_ui", size: ViewportSize = WIDE) -> Visit:
        place = f"{'&' if '#' in path else '#'}table={table}" if table is not None else ""
        return visiting(demo_stack.url + path + place, size)

    return open_at


@pytest.fixture
def send(demo_stack: Stack) -> Send:
    """Sends JSON values to a topic of the demo's own broker; returns when it has them."""
    producer = make_producer(demo_stack.kafka, {"linger.ms": 0, "acks": "all"})

    def write(topic: str, **value: object) -> None:
        failures: list[str] = []
        producer.produce(topic, json.dumps(value), on_delivery=lambda error, _: failures.append(str(error)) if error else None)
        assert producer.flush(60) == 0
        assert not failures

    return write
