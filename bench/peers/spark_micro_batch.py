"""Plain Spark in micro-batches, as most teams write such a join, with the session settings of our own pipeline."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tablecast
from bench.peers.peer import Peer, newest_user
from bench.peers.process import peer_process
from bench.peers.sightings import Sightings
from bench.stack import REPOSITORY, jars_folder
from tablecast.processes.lifeline import VARIABLE as LIFELINE
from tablecast.settings import KafkaSettings

SETTINGS = (
    "Two streams from Kafka, from_json, union, groupBy(userId) with max_by in update mode; a trigger of 0 seconds, two shuffle partitions, RocksDB "
    "with changelog checkpointing on a local disk, and the session settings of Tablecast's own pipeline. An arrival is counted in the driver, when "
    "foreachBatch has the batch as an Arrow table: no server and no socket come after that, which flatters it."
)


@contextmanager
def spark_micro_batch(kafka: KafkaSettings, folder: Path, say: Callable[[str], None]) -> Iterator[Peer]:
    """Runs until the end of the block. Its state, checkpoint and log are in `folder`."""
    seen, newest = Sightings(), newest_user(kafka)
    command = [sys.executable, "-m", "bench.peers.spark_last_rows", kafka.servers, str(jars_folder()), str(folder)]
    say("starting plain Spark in micro-batches")
    with peer_process(command, folder / "spark-micro-batch.log", seen.heard, _environment()) as told:

        @contextmanager
        def watching() -> Iterator[Sightings]:
            seen.wait_for(newest)
            yield seen

        yield Peer(told["version"], SETTINGS, watching)


def _environment() -> dict[str, str]:
    """The same code runs there as here, without settings that somebody has for a Tablecast of his own."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TABLECAST_")}
    return {**ours, "PYTHONPATH": os.pathsep.join((str(Path(tablecast.__file__).parent.parent), str(REPOSITORY))), LIFELINE: "1"}
