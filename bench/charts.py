"""The plots of docs/benchmarks.md, as what is drawn in them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Found = Mapping[str, Any]
Chart = dict[str, Any]
Points = Iterable[tuple[float, float]]

COMPILED = ("broker", "spark")
"""What gets quicker while it runs, since Java compiles it."""


def charts(found: Mapping[str, Found]) -> list[Chart]:
    """Those that there are figures for. A name begins with that of the part whose section shows it."""
    makers = {
        "latency": _latency,
        "latency-peers": _peers,
        "sustained": _sustained,
        "keys": _keys,
        "hydrate": _hydrate,
        "views": _views,
        "fanout": _fanout,
        "idle": _idle,
    }
    return [chart for name, make in makers.items() if name in found for chart in make(found[name])]


def _latency(found: Found) -> Iterator[Chart]:
    series = [line(f"{part['table']} to {part['to']}", swapped(part["curve"])) for part in found["measured"]]
    yield chart("latency", "From Kafka to the painted cell: how many messages took no longer", "ms", "% of the messages", series, x_scale="log")


def _peers(found: Found) -> Iterator[Chart]:
    curves = {"Tablecast": found["all_curve"], **{name: peer["all_curve"] for name, peer in found.get("peers", {}).items()}}
    series = [line(name, swapped(points)) for name, points in curves.items()]
    yield chart("latency-peers", "From Kafka to a client, pauses included", "ms", "% of the messages", series, x_scale="log")


def _sustained(found: Found) -> Iterator[Chart]:
    series = [line(name, ((step["rate"], step[f"{name}_ms"]) for step in found["steps"])) for name in ("p50", "p99")]
    yield chart("sustained", "Latency against the rate", "messages a second", "ms", series, y_scale="log")
    if (steps := found["steps"]) and "cpu_us" in steps[0]:
        parts = [line(part, ((step["rate"], step["cpu_us"][part]) for step in steps)) for part in steps[0]["cpu_us"]]
        yield chart("sustained-cost", "Processor time of a record against the rate", "messages a second", "µs", parts)


def _keys(found: Found) -> Iterator[Chart]:
    steps = found["steps"]
    parts = [line(part, ((step["keys"], step["cpu_us"][part]) for step in steps)) for part in steps[0]["cpu_us"]]
    if control := found.get("control"):
        parts += [line(f"{part}, again at the end", [(control["keys"], spent)]) for part, spent in control["cpu_us"].items() if part in COMPILED]
    yield chart("keys-cost", "Processor time of a record against the keys", "keys", "µs", parts, x_scale="log")
    memory = [line(part, ((step["keys"], step["memory_mb"][part]) for step in steps)) for part in steps[0]["memory_mb"]]
    yield chart("keys-memory", "Memory against the keys", "keys", "MB", memory, x_scale="log")


def _hydrate(found: Found) -> Iterator[Chart]:
    rates = {f"Tablecast, {name}": load["messages_per_s"] for name, load in found["loads"].items()}
    for name, peer in found.get("peers", {}).items():
        rates |= {f"{name}, {state}": peer[state]["messages_per_s"] for state in ("cold", "warm")}
    series = [{"label": label, "x": [label], "y": [rate]} for label, rate in rates.items()]
    yield chart("hydrate", "Filling from a backlog", "", "messages a second", series, kind="bars")


def _views(found: Found) -> Iterator[Chart]:
    if not (steps := found.get("growth")):
        return
    series = [
        line(f"{name} changed", ((step["rows"], step[f"{key}_ms"]) for step in steps))
        for name, key in (("one row", "one"), ("1,000 rows", "thousand"))
    ]
    yield chart("views-cost", "A change in a sorted and filtered view against its rows", "rows", "ms", series, x_scale="log", y_scale="log")
    if "rss_mb" in steps[0]:
        memory = [line("table and view", ((step["rows"], step["rss_mb"]) for step in steps))]
        yield chart("views-memory", "Memory against the rows", "rows", "MB", memory, x_scale="log")


def _fanout(found: Found) -> Iterator[Chart]:
    if not (steps := found.get("growth")):
        return
    latencies = [line(name, ((step["viewers"], step[f"{name}_ms"]) for step in steps)) for name in ("p50", "p99")]
    yield chart("fanout-latency", "From the change to its receipt against the viewers", "viewers", "ms", latencies, x_scale="log")
    cores = [line("server", ((step["viewers"], step["server_cores"]) for step in steps))]
    memory = [line("server", ((step["viewers"], step["rss_mb"]) for step in steps))]
    yield chart("fanout-memory", "The server's memory against the viewers", "viewers", "MB", memory, x_scale="log")
    yield chart("fanout-cores", "The server's cores against the viewers", "viewers", "cores", cores, x_scale="log")


def _idle(found: Found) -> Iterator[Chart]:
    parts = found["repeats"][0]["parts"]
    series = [line(part, ((span, repeat["parts"][part]) for span, repeat in enumerate(found["repeats"], 1))) for part in parts]
    yield chart("idle", "Cores when nothing happens, span by span", "span", "cores", series)


def line(label: str, points: Points) -> dict[str, Any]:
    pairs = list(points)
    return {"label": label, "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}


def swapped(curve: Points) -> Points:
    """Percent and milliseconds, with the milliseconds first."""
    return [(ms, percent) for percent, ms in curve]


def chart(name: str, title: str, x: str, y: str, series: list[dict[str, Any]], **how: str) -> Chart:
    """`how`: x_scale and y_scale, and kind, which is "bars" where there are no lines."""
    return {"name": name, "title": title, "x": x, "y": y, "series": series, **how}
