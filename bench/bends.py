"""What bends the curves, told beside the plots. What stands behind it is in docs/benchmarks/findings.md."""

from collections.abc import Mapping

BENDS: Mapping[str, str] = {
    "sustained": """\
What bends the curves: at a low rate a record pays for waking up. Each is fetched, shuffled, written and read by itself, and to wake a sleeping core
costs more than the work does. With the rate more records share a request, a poll and a frame, so one costs less, until the two cores are full: from
there on it is the latency that grows, since records wait for a core.
""",
    "keys": """\
What bends the curves: Java compiles what it runs for minutes, so the first number of keys is measured dearer than it is, and the curve falls; the
span over the first keys again at the end tells how far. More keys cost the feed look-ups in more memory than the processor's cache holds, and RocksDB
one more level; what broker, orchestrator and Spark's own code do for a record does not depend on how many keys there are.
""",
    "views": """\
What bends the curves: to find a row's place takes the logarithm of the rows, which hardly bends anything. What does is that of a million rows nothing
that a change touches is in the processor's cache, so about half of the time is waiting for memory. Building grows a little faster than the rows, by
sorting. Memory is straight: a row of the table, and its place in each view.
""",
    "fanout": """\
What bends the curves: a frame is encoded once for all viewers of a window, so what a further viewer costs is writing to its socket. Before a core is
full the server lets ticks become rarer, on purpose: with a thousand viewers frames carry more changes each, and latency grows instead of cores.
""",
}
