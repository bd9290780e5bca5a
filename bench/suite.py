"""What `make bench` runs: every program of this folder, with what it is asked, in the order in which it is told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """One run of a program. `name` is that of its result."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """As one would type it."""
        return " ".join(("python -m", f"bench.{self.program}", "--json", *self.arguments))


def part(name: str, arguments: str = "", program: str = "") -> Part:
    return Part(name, program or name, tuple(arguments.split()))


TABLES = "--table users_ui --table final_ui --table user_account"
PEERS = "--peer deephaven-10ms --peer deephaven-50ms --peer deephaven --peer perspective --peer bytewax --peer spark-micro-batch"
SHUFFLE = "pipeline.spark.spark.shuffle.streaming"
AT_ONCE = f"--set {SHUFFLE}.networkBufferSize=64 --set {SHUFFLE}.networkBufferMaxWaitTimeMs=100"
"""Each record leaves Spark's shuffle by itself, which is quicker by what it waits for company else, and costs more at high rates."""

SUITE = (
    part("latency", f"{TABLES} --to server --to websocket --to painted --seconds 4 --repeats 2 --warmup 30"),
    part("latency-peers", f"--table final_ui --to websocket --load small --seconds 24 --peer-seconds 10 --warmup 30 {AT_ONCE} {PEERS}", "latency"),
    part("latency-twin", f"--table final_ui --to websocket --load small --seconds 24 --warmup 30 {AT_ONCE} --set pipeline.twin=true", "latency"),
    part("sustained", "--rate 1000 --rate 2500 --rate 5000 --rate 10000 --seconds 6 --settle 3 --warmup 20"),
    part("keys", "--seconds 6 --warmup 20"),
    part("hydrate", "--load small --peer deephaven"),
    part("views", "--grow 1000 --grow 10000 --grow 100000"),
    part("fanout", "--seconds 6 --peer deephaven"),
    part("swap", "--rows 100000 --warm 3 --swaps 3 --steady 0"),
    part("export"),
    part("reread", "--runs 2"),
    part("paint", "--seconds 30"),
    part("startup", "--repeats 1"),
    part("idle", "--seconds 10"),
    part("recovery", "--repeats 1"),
)
