"""Changelog records in a file, and back in batches as a reader hands them over. Imports little: what reads them is weighed."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

ROUNDS = {"one": (1, 200), "thousand": (1000, 30)}
"""Changed rows in each round, and rounds."""
PEER_ROUNDS = 5
"""As many of them as Perspective gets, which takes half a second for each."""
BATCH = 1000

Record = tuple[bytes, bytes, bytes]
"""Row id, row, version."""


def write_records(file: Path, records: Iterable[Record]) -> None:
    encode = msgspec.msgpack.Encoder().encode
    with file.open("wb") as sink:
        batch: list[Record] = []
        for record in records:
            batch.append(record)
            if len(batch) == BATCH:
                _write(sink.write, encode(batch))
                batch = []
        if batch:
            _write(sink.write, encode(batch))


def read_records(file: Path) -> Iterator[list[Record]]:
    """In batches, as a reader hands them over."""
    decode = msgspec.msgpack.Decoder(list[Record]).decode
    with file.open("rb") as source:
        while length := source.read(4):
            yield decode(source.read(int.from_bytes(length, "big")))


def _write(write: Callable[[bytes], int], data: bytes) -> None:
    write(len(data).to_bytes(4, "big"))
    write(data)
