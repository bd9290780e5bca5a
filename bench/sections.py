"""The sections of docs/benchmarks.md: each turns what a program found into lines of Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Found = Mapping[str, Any]
Section = Callable[[Found], Iterable[str]]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table, with an empty line behind it."""
    yield f"| {' | '.join(header)} |"
    yield f"| {' | '.join('---' for _ in header)} |"
    for row in rows:
        yield f"| {' | '.join(map(told, row))} |"
    yield ""


def told(value: object) -> str:
    """A figure with as many digits as it is worth, a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.3g}"


def spread(repeats: Iterable[Mapping[str, Any]], name: str) -> str:
    """From the least to the most of a figure."""
    values = sorted(repeat[name] for repeat in repeats if repeat.get(name) is not None)
    return f"{told(values[0])} to {told(values[-1])}" if values else "–"


def latency(found: Found) -> Iterator[str]:
    yield f"{told(found['rate'])} messages a second over {told(found['keys'])} keys. Milliseconds from the producer's send to the row's"
    yield "arrival; the pause at a checkpoint, in which nothing flows, is told apart. In brackets: from the least to the most of the repeats.\n"
    header = ("table", "arrives", "p50", "p99", "pause", "p99 with the pauses", "missing")
    rows = [
        (
            part["table"],
            part["to"],
            f"{told(part['p50_ms'])} ({spread(part['repeats'], 'p50_ms')})",
            f"{told(part['p99_ms'])} ({spread(part['repeats'], 'p99_ms')})",
            part["pause_ms"],
            part["all_p99_ms"],
            part["missing"],
        )
        for part in found["measured"]
    ]
    yield from table(header, rows)
    if found.get("kept"):
        missed = ", ".join(name.removesuffix("_painted") for name, kept in found["kept"].items() if not kept)
        told_of = f"not kept by {missed}" if missed else "kept by all"
        yield f"Bars of the painted cell, 60 ms in the median and 150 at the 99th percentile: {told_of}.\n"


def latency_peers(found: Found) -> Iterator[str]:
    yield "From the producer's send to a client that has decoded the row; final_ui with keep last, one viewer of all its rows."
    yield "A ratio over 1 says that we are quicker.\n"
    header = ("", "p50 ms", "p99 ms", "pause ms", "p99 with the pauses", "p50 ratio", "p99 ratio", "p99 ratio with our pauses", "and with a twin")
    names, peers, twin = ("p50_ms", "p99_ms", "pause_ms", "all_p99_ms"), found.get("peers", {}), found.get("twin")
    ours = [("Tablecast", *(found[name] for name in names), *4 * ("",))]
    ours += [("the same with a twin", *(twin[name] for name in names), *4 * ("",))] if twin else []
    theirs = [
        (name, *(peer.get(figure) for figure in names), peer["p50_ratio"], peer["p99_ratio"], peer.get("all_p99_ratio"), twin_ratio(twin, peer))
        for name, peer in peers.items()
    ]
    yield from table(header, [*ours, *theirs])
    yield f"We were measured for {told(found['seconds'])} s, so that a checkpoint falls into it. The peers' spans are shorter: Deephaven and"
    yield "Perspective have no checkpoints, plain Spark has one in each batch, and of Bytewax, which has one in 20 seconds, one may be in it or not."
    yield "With a twin two queries write the same rows, and their checkpoints never fall together (the next section). Peers come one after the other,"
    yield "each on new topics of a broker that we do not use; whoever is not the first finds it warm.\n"
    yield from (f"- {name} {peer['version']}: {peer['settings']}" for name, peer in peers.items())
    yield ""


def twin_ratio(twin: Found | None, peer: Found) -> float | None:
    """How many times longer a peer takes than a twin, over everything."""
    return round(peer["all_p99_ms"] / twin["all_p99_ms"], 2) if twin else None


def latency_twin(found: Found) -> Iterator[str]:
    yield "The same with `pipeline.twin=true`: two queries write the same rows, and their checkpoints never fall together."
    yield "Everything counts here, pauses too.\n"
    yield from table(
        ("p50 ms", "p99 ms", "longest pause ms", "p99 over everything"), [[found[name] for name in ("p50_ms", "p99_ms", "pause_ms", "all_p99_ms")]]
    )


def sustained(found: Found) -> Iterator[str]:
    yield f"From the producer's send to the server's table, {told(found['keys'])} keys. Kept up with:"
    yield f"{told(found['messages_per_s'])} messages a second (p99 under {told(found['limit_ms'])} ms).\n"
    yield from table(
        ("messages a second", "p50 ms", "p99 ms", "µs of processor time a record", "kept up"),
        ((step["rate"], step["p50_ms"], step["p99_ms"], cost(step), "yes" if step["kept_up"] else "**no**") for step in found["steps"]),
    )


def cost(step: Found) -> float | None:
    """Processor time of a record, of all parts together."""
    return sum(step["cpu_us"].values()) if "cpu_us" in step else None


def keys(found: Found) -> Iterator[str]:
    yield f"Microseconds of processor time for one record, by part, at {told(found['rate'])} messages a second.\n"
    parts = list(found["steps"][0]["cpu_us"])
    rows = [(step["keys"], *step["cpu_us"].values(), cost(step), step["p50_ms"], step["p99_ms"], step["spark_heap_mb"]) for step in found["steps"]]
    yield from table(("keys", *parts, "together", "p50 ms", "p99 ms", "Spark's heap MB"), rows)
    if control := found.get("control"):
        yield f"Once more over the first {told(control['keys'])} keys, at the end, with {told(control['held'])} there: {told(cost(control))} µs."
        yield "What that is less than the first line, Java has learnt meanwhile; what more keys cost is between it and the last line.\n"
    per_key = ", ".join(f"{name.replace('_', ' ')} {told(size)}" for name, size in found["bytes_per_key"].items())
    yield f"Bytes that a key takes, from the fewest to the most: {per_key}.\n"


def hydrate(found: Found) -> Iterator[str]:
    yield f"{told(found['messages'])} messages of {told(found['keys'])} keys, by a process that has just started.\n"
    ours = [(name, load["messages_per_s"], load["server_messages_per_s"], load["wrong"]) for name, load in found["loads"].items()]
    yield from table(("Tablecast", "messages a second to the changelog", "to the server's tables", "rows wrong"), ours)
    peers = found.get("peers", {})
    theirs = [
        (f"{name} {peer['version']}", peer["cold"]["messages_per_s"], peer["warm"]["messages_per_s"], peer["wrong"]) for name, peer in peers.items()
    ]
    if theirs:
        yield from table(("peer", "messages a second, cold", "warm", "rows wrong"), theirs)
        for name, ratio in found.get("ratio", {}).items():
            rates = f"{told(ratio['cold'])} times the rate of {name} that has just started too, and at {told(ratio['warm'])} times that of a warm one"
            yield f"We fill at {rates}."
        yield "What stands in the way is in [decision 17](decisions/0017-the-three-worst-numbers.md).\n"
        yield from (f"- {name}: {peer['settings']}" for name, peer in peers.items())
        yield ""


def views(found: Found) -> Iterator[str]:
    yield f"A view of {told(found['rows'])} rows, sorted by balance and filtered by age, to the bytes of the whole new 300-row window;"
    yield f"Perspective {found['perspective']['version']} beside us.\n"
    ours, theirs = found["ours"], found["perspective"]
    yield from table(
        ("", "ours", "from, to", "Perspective", "ratio"),
        [
            (
                f"{name} changed, ms",
                found[f"{key}_ms"],
                f"{told(ours[f'{key}_ms']['min'])}, {told(ours[f'{key}_ms']['max'])}",
                theirs[f"{key}_ms"]["median"],
                found[f"{key}_ratio"],
            )
            for name, key in (("one row", "one"), ("1,000 rows", "thousand"))
        ]
        + [
            ("building the view, s", found["build_seconds"], "", theirs["build_seconds"], theirs["build_seconds"] / found["build_seconds"]),
            ("memory, MB", ours["rss_bytes"] / 1e6, "", theirs["rss_bytes"] / 1e6, theirs["rss_bytes"] / ours["rss_bytes"]),
        ],
    )
    weights = told(found["table_bytes_per_row"]), told(found["view_bytes_per_row"])
    yield f"A row of the table takes {weights[0]} bytes, and {weights[1]} in each sorted or filtered view.\n"
    if found.get("growth"):
        rows = [(step["rows"], step["one_ms"], step["thousand_ms"], step["build_seconds"], step.get("rss_mb")) for step in found["growth"]]
        yield from table(("rows", "one changed, ms", "1,000 changed, ms", "build, s", "memory, MB"), rows)


ASYMMETRIES = """\
What differs between the two: Deephaven joins here, ours gets rows that are joined already and has no Spark beside it; its viewers show a whole table
of 1,000 rows, ours a window of 300 of 20,000. Its viewers are its own JavaScript client, which decodes every frame for each viewer; ours are sockets
in one process, which decodes each distinct frame once for all who get it. So its viewers need more of the two cores: see who took them.
"""


def fanout(found: Found) -> Iterator[str]:
    yield f"Viewers of final_ui ({told(found['rows'])} rows) at {told(found['rate'])} changes a second, from the change to its receipt,"
    yield "beside a broker that has warmed up.\n"
    spans = {
        "1,000 viewers of one window": found.get("crowd"),
        "200 viewers at 200 windows of 20 sorts": found.get("views"),
        "50 viewers while six views are built": found.get("build"),
    }
    if bad := found.get("hostile"):
        spans |= {"200 viewers, quiet": bad["quiet"], "the same with hostile ones": bad["hostile"], "the same afterwards": bad["afterwards"]}
    rows = [
        (name, span["p50_ms"], span["p99_ms"], span["frames_per_second_min"], span.get("server_cores"), span["lost"])
        for name, span in spans.items()
        if span
    ]
    yield from table(("", "p50 ms", "p99 ms", "frames a second, at least", "server's cores", "cut off"), rows)
    if found.get("growth"):
        grown = [
            (step["viewers"], step["p50_ms"], step["p99_ms"], step["server_cores"], step["frames_per_second_median"], step["rss_mb"])
            for step in found["growth"]
        ]
        yield from table(("viewers of one window", "p50 ms", "p99 ms", "server's cores", "frames a second", "memory, MB"), grown)
    for name, peer in found.get("peers", {}).items():
        yield f"{name} {peer['version']} with {peer['asked_viewers']} viewers: {peer.get('failed') or _kept_up(peer)}. {peer['settings']}.\n"
        yield ASYMMETRIES
    if bad:
        if refused := bad.get("refused_sorts"):
            yield f"Of {told(bad['deeds']['sorts'])} sorts that the one with 50 at a time asked for, {told(round(refused))} were refused by the limit"
            yield "of views a viewer: the others are those that were built.\n"
        held = ", ".join(told(bad[f"rss_{when}_mb"]) for when in ("before", "during", "after"))
        yield f"Memory before, during and after the hostile ones: {held} MB.\n"
    yield f"Bars that are not kept: {', '.join(name for name, kept in found['kept'].items() if not kept) or 'none'}.\n"


def _kept_up(peer: Found) -> str:
    """What its viewers noticed, and who was busy."""
    shares = f"p50 {told(peer['p50_ms'])} ms, p99 {told(peer['p99_ms'])} ms, {told(peer['frames_per_second_min'])} frames a second at least"
    quarters = ", ".join(map(told, peer["lag_ms_by_quarter"]))
    lag = f"{peer['lagging']} of {peer['viewers']} more than a second behind at the end, the median lag by quarters {quarters} ms"
    cores = ", ".join(f"{name} {told(cores)}" for name, cores in peer["cores"].items())
    beside = f", {told(peer['p50_ratio'])} and {told(peer['p99_ratio'])} times ours to 200 quiet viewers" if "p50_ratio" in peer else ""
    return f"{shares}{beside}; {lag}; cores: {cores}; {told(peer['rss_mb'])} MiB"


def swap(found: Found) -> Iterator[str]:
    held = f" of {told(found['rows'])} messages each" if "rows" in found else ""
    yield f"{found['swaps']} swaps between two pairs of topics{held} under {told(found['rate'])} messages a second, {found['viewers']} viewers."
    if found.get("warm"):
        yield f"Before them {len(found['warm'])}, in which Java compiles what a fill runs: new rows after {', '.join(map(told, found['warm']))} s."
    yield ""
    noticed = ("viewer_errors", "reconnects", "blank_frames", "mixed_frames", "rows_wrong")
    yield from table(
        (
            "longest silence ms",
            "median",
            "old generation's p99 ms meanwhile",
            "seconds to the new rows",
            *(name.replace("_", " ") for name in noticed),
        ),
        [
            (
                found["gap_ms_max"],
                found["gap_ms_median"],
                found["tick_p99_ms"],
                ", ".join(map(told, found["swap_seconds"])),
                *(found[name] for name in noticed),
            )
        ],
    )


def export(found: Found) -> Iterator[str]:
    yield f"{told(found['rows'])} rows, saved by our own client while 50 viewers watch.\n"
    yield from table(("", "seconds", "MB"), ((name, file["seconds"], file["megabytes"]) for name, file in found["files"].items()))
    yield f"The viewers' p99 is {told(found['quiet']['p99_ms'])} ms before and {told(found['exporting']['p99_ms'])} ms meanwhile.\n"


def reread(found: Found) -> Iterator[str]:
    yield f"A server that starts reads {told(found['rows'])} rows again: {told(found['rows_per_s'])} a second in the median.\n"


def paint(found: Found) -> Iterator[str]:
    ticking = found["ticking"]
    yield f"{told(ticking['rate'])} changes a second in view of {told(found['rows'])} rows, in headless Chromium without a graphics processor,"
    yield f"for {told(found['seconds'])} s: {len(ticking['long'])} tasks over 50 ms."
    yield f"Blank rows while scrolling: {found['scrolling']['blank']}; at a swap: {found['swap']['blank']}.\n"


def startup(found: Found) -> Iterator[str]:
    yield "Seconds from the start of `tablecast run`, in the median, and from the least to the most.\n"
    steps = {"broker": "broker_seconds", "Spark": "spark_seconds", "address told": "open_seconds", "every row served": "rows_seconds"}
    kinds = {"in an empty folder": ("", 1.0), "again in the same folder": ("again_", 0.0)}
    rows = [
        (
            kind,
            *(
                f"{told(found[prefix + step])} ({spread([start for start in found['repeats'] if start['new'] == new], step)})"
                for step in steps.values()
            ),
        )
        for kind, (prefix, new) in kinds.items()
    ]
    yield from table(("", *steps), rows)


def idle(found: Found) -> Iterator[str]:
    yield f"Cores when nothing happens (bar: {found['bar_cores']} over all parts together), and megabytes.\n"
    parts = list(found["repeats"][0]["parts"])
    rows = [(f"{span['viewers']} viewers", span["cores"], *span["parts"].values()) for span in found["repeats"]]
    memory = found["repeats"][-1]["memory_mb"]
    yield from table(("", "together", *parts), [*rows, ("memory, MB", sum(memory.values()), *memory.values())])


def recovery(found: Found) -> Iterator[str]:
    yield "Seconds from `kill -9` to the first answer with a row that was sent after it. No row was lost or doubled.\n"
    yield from table(
        ("killed", "median", "each"), ((part, found[f"{part}_seconds"], ", ".join(map(told, times))) for part, times in found["repeats"].items())
    )


SECTIONS: tuple[tuple[str, str, Section], ...] = (
    ("latency", "Latency: from Kafka to the painted cell", latency),
    ("latency-peers", "Latency beside the peers", latency_peers),
    ("latency-twin", "Latency without pauses", latency_twin),
    ("sustained", "Sustained rate", sustained),
    ("keys", "Growth with the keys, memory of a key", keys),
    ("hydrate", "Filling from a backlog", hydrate),
    ("views", "Views of a million rows", views),
    ("fanout", "Many viewers, different and hostile", fanout),
    ("swap", "Hot swap", swap),
    ("export", "Export", export),
    ("reread", "Reading again", reread),
    ("paint", "What the grid costs the browser", paint),
    ("startup", "Starting", startup),
    ("idle", "Idling", idle),
    ("recovery", "Recovery", recovery),
)
