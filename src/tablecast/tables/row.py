"""A row of a table: its bytes, and where it stands."""

from collections.abc import Sequence
from struct import Struct
from struct import error as PackError
from typing import NamedTuple, cast

import msgspec

from tablecast.tables.version import Order, parse_left, parse_lefts, parse_order

_ORDER = Struct(">QIQ")
ORDER_SIZE = _ORDER.size
_pack = _ORDER.pack
_TIMESTAMP_ZERO = 1 << 63
"""Kafka's timestamp may be -1, and packed orders must compare as the numbers do."""
BRACE, END_BRACE = b"{}"


class Changes(NamedTuple):
    """Records of a changelog, column by column."""

    ids: Sequence[bytes]
    datas: Sequence[bytes | None]
    """None where a row is gone."""
    versions: Sequence[bytes | None]
    orders: Sequence[bytes | None]


class Row(msgspec.Struct, gc=False, eq=False):
    """One row. Its identity is the object: an update changes `version` and `data` in place, and `data` is empty once the row has left its table."""

    position: bytes
    """The packed order, then the id: rows compare by it as by (order, id)."""
    version: bytes
    data: bytes

    @property
    def id(self) -> str:
        return self.position[ORDER_SIZE:].decode()

    @property
    def timestamp(self) -> int:
        return packed_timestamp(self.position)


def new_row(id: bytes, data: bytes, version: bytes, order: bytes | None) -> Row:
    """Raises ValueError when the record is not of the changelog's format."""
    if not data or data[0] != BRACE or data[-1] != END_BRACE:
        raise ValueError(f"the value of row {id!r} is not a JSON object")
    if not id.isascii():
        id.decode()
    left = parse_left(version)
    return Row(pack_position(parse_order(order) if order else left, id), version, data)


def new_rows(changes: Changes) -> list[Row] | None:
    """Many at once, in half the time; None when one of them is not as most are: then they are to be looked at one by one."""
    ids, datas, versions, orders = changes
    if any(orders) or not (all(versions) and all(datas)) or not b"".join(ids).isascii():
        return None
    return _rows_of(ids, cast(Sequence[bytes], datas), cast(Sequence[bytes], versions))


def _rows_of(ids: Sequence[bytes], datas: Sequence[bytes], versions: Sequence[bytes]) -> list[Row] | None:
    if any(data[0] != BRACE or data[-1] != END_BRACE for data in datas) or (lefts := parse_lefts(versions)) is None:
        return None
    try:
        positions = [_pack(left.timestamp + _TIMESTAMP_ZERO, left.partition, left.offset) + id for left, id in zip(lefts, ids, strict=True)]
    except PackError:
        return None
    return list(map(Row, positions, versions, datas))


def pack_position(order: Order, id: bytes) -> bytes:
    """Raises ValueError for numbers that no Kafka has."""
    timestamp, partition, offset = order
    try:
        return _pack(timestamp + _TIMESTAMP_ZERO, partition, offset) + id
    except PackError:
        raise ValueError(f"the order {order!r} is out of range") from None


def row_of(id: bytes, data: bytes) -> Row:
    """A row that is of no changelog."""
    return Row(bytes(ORDER_SIZE) + id, b"", data)


def packed_timestamp(position: bytes) -> int:
    return int.from_bytes(position[:8], "big") - _TIMESTAMP_ZERO
