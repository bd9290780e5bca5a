"""The same work by Perspective. Runs in a virtualenv of its own, so it imports nothing of ours; bench.views starts it and reads its last line.

python perspective_views.py FOLDER    FOLDER holds table.arrow and, for each measurement, NAME-0.arrow, NAME-1.arrow ...
"""

import json
import resource
import sys
import time
from pathlib import Path

import perspective  # type: ignore[import-not-found]
from perspective import Server

WINDOW = 300


def main(folder: Path) -> None:
    client = Server().new_local_client()
    started = time.perf_counter()
    table = client.table((folder / "table.arrow").read_bytes(), index="userId")
    loaded = time.perf_counter()
    view = table.view(sort=[["balance", "desc"]], filter=[["age", ">=", 18]])
    total = view.num_rows()
    view.to_arrow(start_row=0, end_row=WINDOW)
    built = time.perf_counter()
    figures = {
        "version": perspective.__version__,
        "load_seconds": loaded - started,
        "build_seconds": built - loaded,
        "total": total,
        "rss_bytes": rss(),
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    for name in ("one", "thousand"):
        changes = [file.read_bytes() for file in sorted(folder.glob(f"{name}-*.arrow"))]
        figures[f"{name}_ms"] = [changed(table, view, change) for change in changes]
    figures["shown"] = {"total": view.num_rows(), "balances": view.to_columns(start_row=0, end_row=WINDOW)["balance"]}
    print(json.dumps(figures))


def changed(table: "perspective.Table", view: "perspective.View", change: bytes) -> float:
    """Milliseconds from the changed rows to the bytes of the new window. Arrow is the quickest way in and out."""
    started = time.perf_counter()
    table.update(change)
    view.to_arrow(start_row=0, end_row=WINDOW)
    return 1000 * (time.perf_counter() - started)


def rss() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
