"""Our side of bench.views, in a process of its own: python -m bench.views_ours FOLDER. The last line is one JSON object."""

import json
import sys
import time
from pathlib import Path

import msgspec
import psutil

from bench.views_records import PEER_ROUNDS, ROUNDS, Record, read_records
from tablecast.catalog import Column
from tablecast.server.builder import BUILD_ROWS
from tablecast.server.hub import UPKEEP_ROWS
from tablecast.tables.condition import read_condition
from tablecast.tables.dismantler import collect_rarely
from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Changes
from tablecast.tables.view import SortKey, View, ViewSpec, make_view
from tablecast.tables.viewport import Difference, Snapshot, Viewport
from tablecast.tables.window import Window
from tablecast.wire.frames import frame_body, frame_head

COLUMNS = (
    *(Column(name, "string") for name in ("userId", "name", "email")),
    Column("age", "int64"),
    Column("accountType", "string"),
    Column("balance", "double"),
)
SPEC = ViewSpec((SortKey("balance", True),), read_condition({"op": "ge", "column": "age", "value": "18"}))


def main(folder: Path) -> None:
    process = psutil.Process()
    collect_rarely()
    empty = process.memory_info().rss
    table = LiveTable("final_ui", COLUMNS)
    seconds = 0.0
    for batch in read_records(folder / "table.records"):
        started = time.perf_counter()
        take(table, batch)
        seconds += time.perf_counter() - started
    table.filling = False
    filled = process.memory_info().rss
    view, build_seconds, longest = built(table)
    settling = time.perf_counter()
    while not view.build(UPKEEP_ROWS):
        pass
    figures: dict[str, object] = {
        "load_seconds": seconds,
        "load_rows_per_s": round(len(table) / seconds),
        "build_seconds": build_seconds,
        "build_longest_hold_ms": 1000 * longest,
        "settle_seconds": time.perf_counter() - settling,
        "total": view.total,
        "rss_bytes": process.memory_info().rss,
        "table_bytes_per_row": round((filled - empty) / len(table)),
        "view_bytes_per_row": round((process.memory_info().rss - filled) / view.total),
    }
    viewer = Viewer(view)
    rounds = {name: [next(read_records(file)) for file in sorted(folder.glob(f"{name}-*.records"))] for name in ROUNDS}
    times: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ROUNDS}
    for part in (slice(PEER_ROUNDS), slice(PEER_ROUNDS, None)):
        for name, changes in rounds.items():
            times[name] += [viewer.changed(table, change) for change in changes[part]]
        figures.setdefault("shown", shown(view))
    for name, taken in times.items():
        figures[f"{name}_ms"] = [whole for whole, _, _ in taken]
        figures[f"{name}_difference_ms"] = [difference for _, difference, _ in taken]
        figures[f"{name}_upkeep_ms"] = [upkeep for _, _, upkeep in taken]
    print(json.dumps({**figures, "frame_bytes": viewer.largest}))


def shown(view: View) -> dict[str, object]:
    """What is compared with Perspective, after as many rounds as that gets."""
    return {"total": view.total, "balances": [msgspec.json.decode(row.data)["balance"] for row in view.rows(0, 300)]}


def take(table: LiveTable, batch: list[Record]) -> None:
    """As a server does."""
    keys, datas, versions = zip(*batch, strict=True)
    table.take(Changes(keys, datas, versions, (None,) * len(batch)), refuse)


def refuse(key: bytes, error: ValueError) -> None:
    raise error


def built(table: LiveTable) -> tuple[View, float, float]:
    """In the slices of a server; how long it took, and the longest slice."""
    started = time.perf_counter()
    view = make_view(table, SPEC)
    longest = 0.0
    while not view.ready:
        begun = time.perf_counter()
        view.build(BUILD_ROWS)
        longest = max(longest, time.perf_counter() - begun)
    return view, time.perf_counter() - started, longest


class Viewer:
    """Gets the window after each change: as a whole, and as the frame that a subscription cuts, which holds only what differs."""

    def __init__(self, view: View) -> None:
        self.largest = 0
        self._view = view
        self._viewport = Viewport(view, Window(0, 300))
        self._seen: Snapshot = self._viewport.snapshot()

    def changed(self, table: LiveTable, batch: list[Record]) -> tuple[float, float, float]:
        """Milliseconds from the changed rows to the bytes of the whole new window, and to those of the frame with what differs; where the window is
        as before there is no such frame, as on a server. The third is what a server does afterwards, because nobody looks there."""
        started = time.perf_counter()
        take(table, batch)
        snapshot = self._viewport.snapshot()
        shown = time.perf_counter()
        whole = framed(snapshot.since(None))
        encoded = time.perf_counter()
        framed(snapshot.since(self._seen))
        compared = time.perf_counter()
        self._seen = snapshot
        self.largest = max(self.largest, len(whole))
        while not self._view.build(UPKEEP_ROWS):
            pass
        upkeep = time.perf_counter() - compared
        return 1000 * (encoded - started), 1000 * (shown - started + compared - encoded), 1000 * upkeep


def framed(difference: Difference | None) -> bytes:
    if difference is None:
        return b""
    return frame_head(1, 1, 1, 1) + frame_body(difference.total, difference.offset, difference.ids, difference.rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
