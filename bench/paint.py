"""What the grid costs the browser: long tasks while rows tick in view, while somebody scrolls, and at a swap.

python -m bench.paint --json

Serves a table of handmade rows from this process, without Kafka and Spark, to one tab of headless Chromium with the built page (npm run build),
changes the rows that are in view, and asks the tab. The last line of standard output is one JSON object. Ends with 0 only if all bars are kept.
"""

import argparse
import asyncio
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from playwright.sync_api import Page
from pydantic import SecretStr

from bench.chromium import chromium
from bench.exclusive import machine_to_ourselves
from bench.handmade import Changing
from bench.latency import say
from tablecast.catalog import Column
from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.server.serve import Program, address, listen, uvicorn_config
from tablecast.settings import ServerSettings
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable

KEY = "open sesame"
TABLE = "final_ui"
COLUMNS = (Column("userId", "string"), Column("name", "string"), Column("age", "int64"), Column("n", "int64"), Column("balance", "double"))
IN_VIEW = 24
WATCH = (Path(__file__).parent / "paint.js").read_text()
READY_SECONDS = 10.0
MOST_LONG_A_MINUTE = 1.0


class Rows:
    """A generation of rows in memory. Belongs to the loop of the server once it is shown."""

    def __init__(self, number: int, count: int) -> None:
        self.table = LiveTable(TABLE, COLUMNS)
        self.generation = Generation(number, [self.table], {})
        self._name = f"generation {number}"
        for index in range(count):
            self.change(index, 0)

    def change(self, index: int, version: int) -> None:
        balance = (index * 7919 + version * 31) % 10_000_000 / 100
        row = {"userId": f"u{index:07}", "name": self._name, "age": str(index % 90), "n": str(version), "balance": balance}
        self.table.upsert(f"0-{index}".encode(), msgspec.json.encode(row), f"{1000 + index}:0:{index}|{version}:0:0".encode())


class Shown:
    """The server, in a thread, and what is written into its tables."""

    def __init__(self, rows: Rows) -> None:
        self.hub = Hub()
        self.rows = rows
        self._loop: asyncio.AbstractEventLoop | None = None
        self._version = 0
        self.hub.flip(rows.generation)
        self.hub.say("live")

    @contextmanager
    def served(self) -> Iterator[str]:
        settings = ServerSettings(psk=SecretStr(KEY))
        listener, ready = listen("127.0.0.1", 0), threading.Event()

        def listening(url: str) -> None:
            self._loop = asyncio.get_running_loop()
            ready.set()

        program = Program(
            uvicorn_config(create_app(self.hub, settings, Gate(Keys(SecretStr(KEY)))), settings), address("127.0.0.1", listener), listening
        )
        thread = threading.Thread(target=program.run, kwargs={"sockets": [listener]}, name="server")
        thread.start()
        try:
            if not ready.wait(READY_SECONDS):
                raise TimeoutError(f"the server did not listen within {READY_SECONDS:g} s")
            yield address("127.0.0.1", listener)
        finally:
            program.should_exit = True
            thread.join()
            listener.close()

    def change_one(self) -> None:
        """One row that is in view at the top of the table."""
        self._version += 1
        self._on_loop(self._change, self._version % IN_VIEW, self._version)

    def swap(self, rows: Rows) -> None:
        self._on_loop(self._flip, rows)

    def _change(self, index: int, version: int) -> None:
        self.rows.change(index, version)
        self.hub.touch()

    def _flip(self, rows: Rows) -> None:
        self.rows = rows
        self.hub.flip(rows.generation)

    def _on_loop(self, task: Any, *arguments: Any) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(task, *arguments)


def ticking(page: Page, shown: Shown, rate: float, seconds: float) -> dict[str, Any]:
    with Changing(shown.change_one, rate) as changing:
        time.sleep(2)
        page.evaluate("paint.start()")
        page.wait_for_timeout(1000 * seconds)
        seen: dict[str, Any] = page.evaluate("paint.stop()")
    return {**seen, "rate": rate, "sender_late_ms": round(1000 * changing.late)}


def scrolling(page: Page, seconds: float, step: int) -> dict[str, Any]:
    page.evaluate("paint.start()")
    page.evaluate("([seconds, step]) => paint.scroll(seconds, step)", [seconds, step])
    seen: dict[str, Any] = page.evaluate("paint.stop()")
    return seen


def swapping(page: Page, shown: Shown, rows: Rows, seconds: float) -> dict[str, Any]:
    """The tables change over in the middle of a slow scroll: no row may be blank, and none of the old ones may stay."""
    page.evaluate("paint.start()")
    threading.Timer(seconds / 2, shown.swap, [rows]).start()
    page.evaluate("seconds => paint.scroll(seconds, 8)", seconds)
    seen: dict[str, Any] = page.evaluate("paint.stop()")
    old = page.locator("tbody tr", has_text="generation 1").count()
    return {**seen, "old_rows_left": old}


def bars(found: dict[str, Any]) -> dict[str, bool]:
    long_a_minute = 60 * len(found["ticking"]["long"]) / found["seconds"]
    return {
        "ticking_long_tasks": long_a_minute < MOST_LONG_A_MINUTE,
        "scrolling_no_blank": found["scrolling"]["blank"] == 0,
        "swap_no_blank": (found["swap"]["blank"], found["swap"]["waiting"], found["swap"]["old_rows_left"]) == (0, 0, 0),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.paint", description="What the grid costs the browser.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=2000.0)
    parser.add_argument("--seconds", type=float, default=120.0, help="of ticking")
    parser.add_argument("--json", action="store_true", help="accepted for the habit: the last line is JSON anyway")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"bench": "paint", "rows": given.rows, "seconds": given.seconds}
    with machine_to_ourselves(say), chromium() as browser:
        shown, other = Shown(Rows(1, given.rows)), Rows(2, given.rows)
        with shown.served() as url:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{url}/#key={quote(KEY)}")
            page.locator("tbody tr[data-row-id]").first.wait_for()
            page.evaluate(WATCH)
            found["ticking"] = ticking(page, shown, given.rate, given.seconds)
            say(f"ticking: {found['ticking']}")
            found["scrolling"] = scrolling(page, 10, 60)
            say(f"scrolling: {found['scrolling']}")
            found["swap"] = swapping(page, shown, other, 6)
            say(f"swap: {found['swap']}")
            page.close()
    found["kept"] = bars(found)
    print(json.dumps(found))
    return 0 if all(found["kept"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
