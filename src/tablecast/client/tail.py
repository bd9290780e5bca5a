"""A table in the terminal, as it changes: the newest rows of it, or the first ones of a sorted view."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tablecast.client.model import WindowState
from tablecast.client.viewer import OpenTable, connect
from tablecast.errors import ServerUnreachable
from tablecast.printable import escaped_json, plain
from tablecast.wire.messages import ColumnInfo

NEWEST = 1 << 53
"""An offset beyond every end: the window follows the last rows."""
LOOK_SECONDS = 1.0
BACKOFF_SECONDS = 0.15
BACKOFF_FACTOR = 1.5
MOST_BACKOFF_SECONDS = 5.0
NUMBERS = ("int64", "double")


@dataclass(frozen=True)
class Look:
    """What is shown: `rows` rows of a view."""

    table: str
    rows: int = 20
    sort: Sequence[tuple[str, bool]] = ()
    filter: Mapping[str, Any] | None = None
    search: str | None = None

    @property
    def offset(self) -> int:
        """The end of the table, or the beginning of a sorted view."""
        return 0 if self.sort else NEWEST


@dataclass(frozen=True)
class Sight:
    """A table at one moment: `window` is None before anything came, `state` is how the feed is, in words."""

    columns: Sequence[ColumnInfo]
    window: WindowState | None
    state: str


class Show(Protocol):
    def show(self, sight: Sight) -> None: ...


def tail(url: str, key: str, look: Look, show: Show, going: Callable[[], bool] = lambda: True) -> None:
    """Shows the table until `going` says no. A server that goes away is waited for; what it refuses is raised: ServerRefused, and ServerUnreachable
    if it was never there."""
    last, tries = Sight((), None, "connecting"), 0
    while going():
        try:
            for last in _sights(url, key, look, going):
                tries = 0
                show.show(last)
        except ServerUnreachable as error:
            if last.window is None:
                raise
            show.show(Sight(last.columns, last.window, f"connecting: {error.message}"))
            time.sleep(backoff(tries, random.random()))
            tries += 1


def backoff(tries: int, dice: float) -> float:
    """Seconds until the next try, from half to all of a time that grows."""
    return min(MOST_BACKOFF_SECONDS, BACKOFF_SECONDS * BACKOFF_FACTOR**tries) * (0.5 + dice / 2)


def _sights(url: str, key: str, look: Look, going: Callable[[], bool]) -> Iterator[Sight]:
    with connect(url, key) as viewer:
        table = viewer.open(look.table, look.offset, look.rows, sort=look.sort, filter=look.filter, search=look.search)
        while going():
            window = _next(table)
            feed = viewer.feed
            state = "connecting" if feed is None else feed.state if feed.message is None else f"{feed.state}: {feed.message}"
            yield Sight(table.columns, window, state)


def _next(table: OpenTable) -> WindowState | None:
    """The newest state; after a while the one that is known, so that a change of the feed shows too."""
    try:
        return table.wait(LOOK_SECONDS)
    except TimeoutError:
        return table.model.window


class Lines:
    """For a pipe: each row that is new or changed, one JSON object a line."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._known: dict[str, dict[str, Any]] = {}

    def show(self, sight: Sight) -> None:
        rows = dict(sight.window.rows) if sight.window is not None else {}
        for id, row in rows.items():
            if self._known.get(id) != row:
                self._write(escaped_json(msgspec.json.encode(row).decode()))
        self._known = rows


class Screen:
    """For a person: a table that is painted anew, with the state in its title."""

    def __init__(self, console: Console, name: str) -> None:
        self._live = Live(console=console, auto_refresh=False, screen=False)
        self._name = name

    def __enter__(self) -> "Screen":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, sight: Sight) -> None:
        self._live.update(painted(self._name, sight), refresh=True)


def painted(name: str, sight: Sight) -> Group:
    window = sight.window
    place = f"rows {window.offset + 1}-{window.offset + len(window.rows)} of {window.total:,}" if window is not None and window.rows else "no rows"
    generation = f" · generation {window.generation}" if window is not None else ""
    table = Table()
    for column in sight.columns:
        table.add_column(Text(plain(column.name)), justify="right" if column.type in NUMBERS else "left", overflow="ellipsis", no_wrap=True)
    for _, row in window.rows if window is not None else ():
        table.add_row(*(_cell(row.get(column.name)) for column in sight.columns))
    return Group(Text(plain(f"{name} · {place}{generation} · {sight.state}")), table)


def _cell(cell: Any) -> Text:
    if cell is None:
        return Text("–", style="dim")
    return Text(plain(cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()))
