"""The same rows and changes for both sides of bench.views: as changelog records, and as Arrow."""

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from bench.views_people import Person, people
from bench.views_records import PEER_ROUNDS, ROUNDS, write_records


def write_data(folder: Path, rows: int) -> None:
    rng = random.Random(7)
    first = people(range(rows), rng)
    write_arrow(folder / "table.arrow", first)
    # A changelog is written by key, not by time: the rows come in no order.
    write_records(folder / "table.records", (person.record(0) for person in rng.sample(first, rows)))
    version = 0
    for name, (size, rounds) in ROUNDS.items():
        for index in range(rounds):
            version += 1
            changed = people(rng.sample(range(rows), size), rng)
            write_records(folder / f"{name}-{index:03}.records", [person.record(version) for person in changed])
            if index < PEER_ROUNDS:
                write_arrow(folder / f"{name}-{index:03}.arrow", changed)


def write_arrow(file: Path, rows: Sequence[Person]) -> None:
    columns = [person.columns() for person in rows]
    table = pa.table({name: [row[name] for row in columns] for name in columns[0]})
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
