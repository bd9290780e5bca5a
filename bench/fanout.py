"""What a thousand viewers cost, what many different views cost, and what bad viewers do to the others.

python -m bench.fanout --json
python -m bench.fanout --json --part crowd --peer deephaven

Starts an embedded Kafka and the real server as a process of its own, writes final_ui's changelog itself, 200 changes a second with the moment of each
in its row, and lets viewers in a process of their own note when they receive it: all of it on this one machine. Before that it changes rows that
nobody looks at until the broker is warm: one that has just started takes most of a core, next to the server. Five parts:
  crowd     1,000 viewers of one window of 300 rows
  views     200 viewers at 200 different windows of 20 different sorts
  hostile   200 viewers of one window, first among themselves, then with viewers that stop reading, flap, flood and sort
  growth    1, 10, 100 and 1,000 viewers of one window of 300 rows
  build     50 viewers of one window while views of the whole table are built; --rows 1000000 makes them large
--peer deephaven lets Deephaven, with cycles of 50 ms, show its final_ui to 200 viewers at the same rate, after ours has ended, on the same broker;
p50_ratio and p99_ratio compare that with the quiet 200 of `hostile`.
The last line of standard output is one JSON object with every figure and whether it keeps its bar. Ends with 0 only if all of them do.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil

from bench.audience import Audience, Heard
from bench.exclusive import machine_to_ourselves
from bench.handmade import TABLE, Handmade
from bench.hostile import COLUMNS, Hostiles
from bench.latency import say
from bench.peers.deephaven import fetched
from bench.peers.deephaven_crowd import crowd
from bench.stack import KEY, Stack, jars_folder
from bench.subject import LAST_BY_USER, Look
from bench.trips import Span
from bench.usage import java_of, used_in
from tablecast.client.viewer import connect
from tablecast.jars import Jars
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.settings import KafkaSettings, Settings

WINDOW = 300
SORTS = 20
LISTENS = re.compile(r"\[server\] listens at (?P<url>\S+)")
READY_SECONDS = 120.0
STALLED_SECONDS = 5.0
"""How long the server bears one who does not read, here: less than by default, so that it happens within a short run."""
SETTLE_SECONDS = 5.0
WARM_RATE = 500.0
WARM_SECONDS = 8.0
"""The broker is warm when a change costs it hardly less in so long than in as long before."""
WARM_AT_THE_LATEST = 60.0
HARDLY_LESS = 0.9

MOST_P99_MS = 250.0
LEAST_FRAMES = 10.0
MOST_CORES = 1.0
MOST_WORSE = 2.0
MOST_GROWTH = 1.1
PARTS = ("crowd", "views", "hostile", "build", "growth")
GROWING = (1, 10, 100, 1000)
PEERS = {"deephaven": crowd}
PEER_VIEWERS = 200
PEER_KEYS = 1000
PEER_WARM_SECONDS = 20.0
PEER_SECONDS = 10.0
"""At least so long: its Java has to compile what many viewers need, and who falls behind does so over some time."""
DEEDS = ("flaps", "flood_messages", "sorts", "stalled_connections")
"""What bad viewers must have done for the figures to say anything."""


@dataclass(frozen=True)
class Options:
    viewers: int
    rows: int
    rate: float
    seconds: float
    warmup: float


@dataclass
class Bench:
    """A server with its tables, and what is measured of it."""

    options: Options
    stack: Stack
    handmade: Handmade
    url: str

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.stack.process.pid)

    def crowd(self) -> dict[str, Any]:
        looks = [Look(0)] * self.options.viewers
        heard, cores = self._measured(looks, among=WINDOW)
        return {**figures(heard), "server_cores": cores, "rss_mb": self._rss()}

    def growth(self, known: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        """What each tenfold of viewers makes of it. Of as many as the crowd, what is known of that is taken."""
        steps = []
        for viewers in GROWING:
            if known and viewers == known["viewers"]:
                steps.append(dict(known))
                continue
            heard, cores = self._measured([Look(0)] * viewers, among=WINDOW)
            steps.append({**figures(heard), "server_cores": cores, "rss_mb": self._rss()})
        return steps

    def views(self) -> dict[str, Any]:
        heard, cores = self._measured(different_looks(200, self.options.rows), among=self.options.rows)
        return {**figures(heard), "server_cores": cores, "rss_mb": self._rss()}

    def build(self) -> dict[str, Any]:
        """Views of everything are built, one after another, while 50 viewers watch a window that changes."""
        looks = [Look(0)] * 50
        with Audience(self.url, KEY, looks, WINDOW) as audience, self.handmade.changing(self.options.rate, WINDOW):
            time.sleep(self.options.warmup)
            audience.begin()
            seconds = [self._build_seconds(column) for column in COLUMNS]
            heard = audience.end()
        return {**figures(heard), "build_seconds": seconds, "rss_mb": self._rss()}

    def _build_seconds(self, column: str) -> float:
        """From the wish for a sort to its first window."""
        with connect(self.url, KEY) as viewer:
            began = time.monotonic()
            viewer.open(TABLE, 0, WINDOW, sort=[(column, True)]).wait(READY_SECONDS)
            return round(time.monotonic() - began, 3)

    def hostile(self) -> dict[str, Any]:
        looks = [Look(0)] * 200
        with Audience(self.url, KEY, looks, WINDOW) as audience, self.handmade.changing(self.options.rate, WINDOW):
            quiet = self._span(audience)[0]
            before = self._rss()
            with Hostiles(self.url, KEY, WINDOW) as hostiles:
                time.sleep(self.options.warmup)
                heard, cores = self._span(audience, max(self.options.seconds, 2 * STALLED_SECONDS))
                during = self._rss()
            after = self._rss_after()
            again = self._span(audience)[0]
        counted = self._metrics()
        return {
            "quiet": figures(quiet),
            "hostile": {**figures(heard), "server_cores": cores},
            "afterwards": figures(again),
            "rss_before_mb": before,
            "rss_during_mb": during,
            "rss_after_mb": after,
            "deeds": vars(hostiles.deeds),
            "stalled": counted.get("tablecast_viewers_stalled_total"),
            "refused_floods": counted.get('tablecast_refusals_total{code="too_many_messages"}'),
            "refused_sorts": counted.get('tablecast_refusals_total{code="too_many_own_views"}'),
        }

    def _measured(self, looks: Sequence[Look], among: int) -> tuple[Heard, float]:
        with Audience(self.url, KEY, looks, WINDOW) as audience, self.handmade.changing(self.options.rate, among):
            time.sleep(self.options.warmup)
            return self._span(audience)

    def _span(self, audience: Audience, seconds: float | None = None) -> tuple[Heard, float]:
        """What the audience heard, and the cores that the server needed."""
        audience.begin()
        used = used_in({"server": self.process}, seconds or self.options.seconds)
        return audience.end(), round(used.cores["server"], 3)

    def _rss(self) -> float:
        return round(self.process.memory_info().rss / 1e6, 1)

    def _rss_after(self) -> float:
        """The memory once it has settled."""
        time.sleep(SETTLE_SECONDS)
        return self._rss()

    def _metrics(self) -> dict[str, float]:
        with urlopen(Request(f"{self.url}/metrics", headers={"Authorization": f"Bearer {KEY}"}), timeout=30) as answer:  # noqa: S310
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}


def figures(heard: Heard) -> dict[str, Any]:
    rates = heard.frames_per_second
    return {
        **heard.tally.summary(),
        "viewers": len(rates),
        "frames_per_second_min": round(rates[0], 1),
        "frames_per_second_median": round(rates[len(rates) // 2], 1),
        "megabytes_per_second": round(heard.megabytes / heard.seconds, 1),
        "late_frames": heard.late,
        "lost": heard.lost,
        "audience_cores": round(heard.cpu_seconds / heard.seconds, 2),
    }


def different_looks(count: int, rows: int) -> list[Look]:
    """So many windows, all different, over SORTS sorts; each sort's windows lie one behind the other from its first row on."""
    one = [((column, falling),) for column in COLUMNS for falling in (False, True)]
    two = [((a, False), (b, True)) for a, b in permutations(COLUMNS, 2)]
    sorts = (one + two)[:SORTS]
    return [Look(min(index // SORTS * WINDOW, max(0, rows - WINDOW)), sorts[index % SORTS]) for index in range(count)]


def bars(found: Mapping[str, Any]) -> dict[str, bool]:
    """Which bars are kept, of those parts that were run."""
    kept: dict[str, bool] = {}
    if crowd := found.get("crowd"):
        kept["crowd_frames"] = crowd["frames_per_second_min"] >= LEAST_FRAMES
        kept["crowd_p99"] = crowd["p99_ms"] is not None and crowd["p99_ms"] < MOST_P99_MS
        kept["crowd_cores"] = crowd["server_cores"] < MOST_CORES
        kept["crowd_nobody_lost"] = crowd["lost"] == 0
    if views := found.get("views"):
        kept["views_p99"] = views["p99_ms"] is not None and views["p99_ms"] < MOST_P99_MS
    if bad := found.get("hostile"):
        kept["hostile_p99"] = no_worse(bad)
        kept["hostile_memory"] = bad["rss_after_mb"] <= MOST_GROWTH * bad["rss_before_mb"]
        kept["hostile_nobody_lost"] = bad["hostile"]["lost"] == 0
        kept["hostile_happened"] = all(bad["deeds"][deed] for deed in DEEDS) and bool(bad["stalled"]) and bool(bad["refused_floods"])
    if building := found.get("build"):
        kept["build_p99"] = building["p99_ms"] is not None and building["p99_ms"] < MOST_P99_MS
    if growth := found.get("growth"):
        kept["growth_nobody_lost"] = not any(step["lost"] for step in growth)
    for name, peer in found.get("peers", {}).items():
        kept[f"{name}_right"] = "failed" not in peer and peer["wrong"] == peer["wrong_viewers"] == 0
    return kept


def no_worse(bad: Mapping[str, Any]) -> bool:
    """Whether bad viewers leave the others at most MOST_WORSE times as slow as they are in peace, before or afterwards, whichever is quicker."""
    p99s = [bad[when]["p99_ms"] for when in ("hostile", "quiet", "afterwards")]
    return None not in p99s and p99s[0] <= MOST_WORSE * min(p99s[1:])


@contextmanager
def running(options: Options, folder: Path) -> Iterator[Bench]:
    """A broker that has taken all rows just now is not cold, and is not warmed any further."""
    with _broker(folder) as broker, _serving(options, broker.kafka, folder) as bench:
        yield bench


def _broker(folder: Path) -> EmbeddedBroker:
    jars = jars_folder()
    return EmbeddedBroker(Settings().replaced("pipeline", state_dir=folder, jars=jars), Jars(jars))


@contextmanager
def _serving(options: Options, kafka: KafkaSettings, folder: Path) -> Iterator[Bench]:
    handmade = Handmade(kafka, "tablecast", options.rows)
    handmade.go_live()
    settings = {"changelog.kafka.bootstrap.servers": kafka.servers, "server.stalled_seconds": STALLED_SECONDS, "server.strangers": 10_000}
    try:
        with Stack(folder / "server", jars_folder(), "serve", settings, {"TABLECAST_SERVER_PSK": KEY}) as stack:
            stack.url, stack.key = stack.log.wait_for(LISTENS, READY_SECONDS)["url"], KEY
            stack.wait_for_rows(TABLE, options.rows, READY_SECONDS)
            yield Bench(options, stack, handmade, stack.url)
    finally:
        handmade.end()


def _warm(handmade: Handmade) -> None:
    """Lets the broker take changes until its Java is done compiling."""
    began, broker = time.monotonic(), {"broker": java_of(psutil.Process())}
    with handmade.changing(WARM_RATE, handmade.rows) as changing:

        def cost() -> float:
            count = changing.count
            spent = used_in(broker, WARM_SECONDS).cpu_seconds["broker"]
            return spent / max(1, changing.count - count)

        before, now = float("inf"), cost()
        while now < HARDLY_LESS * before and time.monotonic() < began + WARM_AT_THE_LATEST:
            before, now = now, cost()
    say(f"the broker is warm after {time.monotonic() - began:.0f} s: {now * 1e6:.0f} microseconds of processor time a change")


def measure(options: Options, parts: Sequence[str], peers: Sequence[str], folder: Path) -> dict[str, Any]:
    """The figures of each part, and of each peer once our server has ended."""
    found: dict[str, Any] = {}
    with _broker(folder) as broker:
        with _serving(options, broker.kafka, folder) as bench:
            _warm(bench.handmade)
            measured: Mapping[str, Callable[[], Any]] = {
                "crowd": bench.crowd,
                "views": bench.views,
                "hostile": bench.hostile,
                "build": bench.build,
                "growth": lambda: bench.growth(found.get("crowd")),
            }
            for name in parts:
                found[name] = measured[name]()
                say(f"{name}: {found[name]}")
        span = Span(LAST_BY_USER, options.rate, PEER_KEYS, max(PEER_SECONDS, options.seconds), max(PEER_WARM_SECONDS, options.warmup))
        found["peers"] = {name: beside(found, PEERS[name](broker.kafka, PEER_VIEWERS, span, folder / name, say)) for name in peers}
    return found


def beside(found: Mapping[str, Any], peer: Mapping[str, Any]) -> dict[str, Any]:
    """The peer's figures, with how many times longer it took than ours to as many viewers of one window that nobody disturbs."""
    ours = found.get("hostile", {}).get("quiet", {})
    ratios = {f"{name}_ratio": round(peer[f"{name}_ms"] / ours[f"{name}_ms"], 1) for name in ("p50", "p99") if "failed" not in peer and ours}
    return {**peer, **ratios}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.fanout", description="Viewers: many, different and hostile.")
    parser.add_argument("--viewers", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--warmup", type=float, default=5.0)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given again")
    parser.add_argument("--peer", action="append", choices=PEERS, default=[], help="another system in the same run")
    parser.add_argument("--json", action="store_true", help="accepted for the habit: the last line is JSON anyway")
    given = parser.parse_args(arguments)
    options = Options(given.viewers, given.rows, given.rate, given.seconds, given.warmup)
    if given.peer:
        fetched(say)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="fanout-") as folder:
        found = {"bench": "fanout", **vars(options), **measure(options, given.part or PARTS, given.peer, Path(folder))}
    found["kept"] = bars(found)
    print(json.dumps(found))
    return 0 if all(found["kept"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
