"""What the suite is to show, as a table: what was found, the bar, and whether it was kept. Computed from the results, never written by hand."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench import fanout, idle, latency, paint, reread, swap, views
from bench.sections import table, told, twin_ratio

Found = Mapping[str, Any]

AT_BEST, DEFAULTS = "deephaven-10ms", "deephaven"
MOST_PAUSE_MS = 1000.0
MOST_TWIN_P99_MS = 100.0
LEAST_MESSAGES_PER_S = 10_000
MOST_MINUTES = 30.0


VERDICTS = {True: "kept", False: "**not kept**", None: "told"}


@dataclass(frozen=True)
class Claim:
    what: str
    measured: str
    bar: str
    kept: bool | None
    """None where it is only to be told."""


def lines(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The table, and how many of the claims hold. Those of parts that were not run are not in it."""
    found = {name: result["found"] for name, result in results.items() if result["found"]}
    claims = [claim for part, make in MAKERS.items() if part in found for claim in make(found[part])]
    claims += [
        Claim(f"All of the part {part}", "it ended without a result", "", kept=False) for part in MAKERS if part in results and part not in found
    ]
    claims += [_minutes(results)] if set(MAKERS) <= set(results) else []
    yield "## What was to be shown\n"
    kept = [claim.kept for claim in claims if claim.kept is not None]
    yield f"{sum(kept)} of {len(kept)} bars were kept in the runs below. A ratio over 1 says that we are quicker.\n"
    rows = ((claim.what, claim.measured, claim.bar, VERDICTS[claim.kept]) for claim in claims)
    yield from table(("", "measured", "bar", ""), rows)


def at_least(what: str, ratio: float | None, bar: float, told_as: str = "") -> Claim:
    return Claim(what, told_as or f"{told(ratio)} times", f"at least {told(bar)} times", ratio is not None and ratio >= bar)


def below(what: str, value: float | None, bar: float, unit: str) -> Claim:
    return Claim(what, f"{told(value)} {unit}", f"under {told(bar)} {unit}", value is not None and value < bar)


def _latency(found: Found) -> Iterator[Claim]:
    for part in found["measured"]:
        if part["to"] == "painted":
            figures = " and ".join(told(part[name]) for name in latency.MOST_PAINTED_MS)
            bars = " and ".join(map(told, latency.MOST_PAINTED_MS.values()))
            kept = latency.kept([part])[f"{part['table']}_painted"]
            yield Claim(f"{part['table']} to the painted cell, p50 and p99", f"{figures} ms", f"under {bars} ms", kept)


def _peers(found: Found) -> Iterator[Claim]:
    peers = found.get("peers", {})
    for name, bar, setting in ((AT_BEST, 1.0, "with cycles of 10 ms"), (DEFAULTS, 20.0, "as it comes")):
        if peer := peers.get(name):
            what = f"To a WebSocket client beside Deephaven {setting}"
            for share in ("p50", "p99"):
                yield at_least(f"{what}, {share}", peer[f"{share}_ratio"], bar)
            yield Claim(f"{what}, p99 with our pauses", f"{told(peer['all_p99_ratio'])} times", "", None)
            if twin := found.get("twin"):
                yield at_least(f"{what}, p99 with the pauses of a twin", twin_ratio(twin, peer), bar)
    yield below("Pause at a checkpoint", found["pause_ms"], MOST_PAUSE_MS, "ms")


def _twin(found: Found) -> Iterator[Claim]:
    yield below("p99 over everything with a twin", found["all_p99_ms"], MOST_TWIN_P99_MS, "ms")


def _sustained(found: Found) -> Iterator[Claim]:
    rate = found["messages_per_s"]
    yield Claim("Highest rate that was kept up with", f"{told(rate)}/s", f"at least {told(LEAST_MESSAGES_PER_S)}/s", rate >= LEAST_MESSAGES_PER_S)


def _hydrate(found: Found) -> Iterator[Claim]:
    for name, ratio in found.get("ratio", {}).items():
        cold = ratio["cold"]
        bar = "at least 1 times, or [the profile that says why](decisions/0017-the-three-worst-numbers.md)"
        yield Claim(f"Filling from the same messages beside {name}, both just started", f"{told(cold)} times", bar, cold >= 1)
        yield Claim(f"The same beside {name} once it is warm", f"{told(ratio['warm'])} times", "", None)


def _views(found: Found) -> Iterator[Claim]:
    names = {"one_ratio": "One changed row of a million beside Perspective", "thousand_ratio": "1,000 changed rows beside Perspective"}
    for name, what in names.items():
        yield at_least(what, found[name], views.BARS[name])
    yield below("One changed row, to the bytes of the new window", found["one_ms"], views.BARS["one_ms"], "ms")
    yield below("1,000 changed rows, the same", found["thousand_ms"], views.BARS["thousand_ms"], "ms")
    yield below("Building the view", found["build_seconds"], views.BARS["build_seconds"], "s")
    yield below("Memory, of Perspective's", found["rss_ratio"], views.BARS["rss_ratio"], "times")


def _fanout(found: Found) -> Iterator[Claim]:
    if crowd := found.get("crowd"):
        yield below("1,000 viewers of one window, p99", crowd["p99_ms"], fanout.MOST_P99_MS, "ms")
        rate = crowd["frames_per_second_min"]
        yield Claim("Frames a second for each of them", told(rate), f"at least {told(fanout.LEAST_FRAMES)}", rate >= fanout.LEAST_FRAMES)
        yield below("The server's cores for them", crowd["server_cores"], fanout.MOST_CORES, "cores")
    if different := found.get("views"):
        yield below("200 viewers of different windows, p99", different["p99_ms"], fanout.MOST_P99_MS, "ms")
    if bad := found.get("hostile"):
        figures = " and ".join(told(bad[when]["p99_ms"]) for when in ("hostile", "quiet", "afterwards"))
        bar = f"at most {told(fanout.MOST_WORSE)} times the better quiet one"
        yield Claim("200 viewers with hostile ones, quiet and afterwards, p99", f"{figures} ms", bar, fanout.no_worse(bad))
        yield from (_breaks_down(bad["quiet"], peer) for peer in found.get("peers", {}).values())


def _breaks_down(ours: Found, peer: Found) -> Claim:
    """Ours keep up where the peer's do not."""
    what, bar = "200 viewers, where Deephaven with cycles of 50 ms breaks down", "ours under 250 ms, most of theirs a second late"
    if "failed" in peer:
        return Claim(what, f"ours {told(ours['p99_ms'])} ms at p99; theirs: {peer['failed']}", bar, False)
    measured = f"p99 {told(ours['p99_ms'])} and {told(peer['p99_ms'])} ms; {peer['lagging']} of {peer['viewers']} of theirs a second late"
    return Claim(what, measured, bar, (ours["p99_ms"] or fanout.MOST_P99_MS) < fanout.MOST_P99_MS and 2 * peer["lagging"] > peer["viewers"])


def _swap(found: Found) -> Iterator[Claim]:
    yield below("Longest silence of a viewer at a swap", found["gap_ms_max"], swap.MOST_GAP_MS, "ms")
    yield below("The old generation's p99 meanwhile", found["tick_p99_ms"], swap.MOST_TICK_MS, "ms")
    if found.get("warm"):
        yield below("From the message of a warm swap to the new rows, at most", found["swap_seconds_max"], swap.MOST_SECONDS, "s")


def _export(found: Found) -> Iterator[Claim]:
    yield below("Viewers' p99 while a million rows are exported", found["exporting"]["p99_ms"], fanout.MOST_P99_MS, "ms")


def _reread(found: Found) -> Iterator[Claim]:
    rate = found["rows_per_s"]
    yield Claim("Reading a table again", f"{told(rate)} rows/s", f"at least {told(reread.BAR)} rows/s", rate >= reread.BAR)


def _paint(found: Found) -> Iterator[Claim]:
    a_minute = 60 * len(found["ticking"]["long"]) / found["seconds"]
    yield below("Tasks over 50 ms in the page while 2,000 rows a second change in view", a_minute, paint.MOST_LONG_A_MINUTE, "a minute")


def _idle(found: Found) -> Iterator[Claim]:
    yield below("When nothing happens", found["cores"], idle.MOST_CORES, "cores")


def _minutes(results: Mapping[str, Mapping[str, Any]]) -> Claim:
    return below("All of it", sum(results[name]["seconds"] for name in results) / 60, MOST_MINUTES, "minutes")


MAKERS: Mapping[str, Callable[[Found], Iterator[Claim]]] = {
    "latency-peers": _peers,
    "latency-twin": _twin,
    "fanout": _fanout,
    "views": _views,
    "hydrate": _hydrate,
    "idle": _idle,
    "latency": _latency,
    "sustained": _sustained,
    "swap": _swap,
    "export": _export,
    "reread": _reread,
    "paint": _paint,
}
"""Those that the project set out to show come first."""
