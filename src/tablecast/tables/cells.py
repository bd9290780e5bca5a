"""Cells of the columns that a view uses: decoded from a row, and turned into bytes that compare as the cells do.

A cell's key begins with its rank: a value before NaN before null, in both directions. After it come the value's bytes, so that
the keys of several columns, put one after another, compare column by column with one memcmp.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from struct import Struct
from typing import Any

import msgspec

from tablecast.catalog import ColumnType

Cells = tuple[Any, ...]
KeyOf = Callable[[Any], bytes]

NULL = b"\x03"
_NAN = b"\x02"
_VALUE = b"\x01"

_DOUBLE = Struct(">d")
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# UTF-8 holds no byte above 0xf4: shifting by one frees 0x00 as an end mark that sorts first, mirroring at 0xfe frees 0xff as one that sorts last.
_UP = bytes(min(byte + 1, 0xFF) for byte in range(256))
_DOWN = bytes(max(0xFE - byte, 0) for byte in range(256))
_FLIPPED = bytes(0xFF - byte for byte in range(256))


def cell_reader(columns: Sequence[str]) -> Callable[[bytes], Cells]:
    """A function that decodes these columns of a row and skips the others. A row that cannot be decoded has null cells."""
    fields: list[tuple[str, Any, Any]] = [(f"c{index}", Any, None) for index in range(len(columns))]
    rename = {f"c{index}": column for index, column in enumerate(columns)}
    decoder = msgspec.json.Decoder(msgspec.defstruct("Cells", fields, rename=rename, gc=False))
    nulls: Cells = (None,) * len(columns)

    def read(data: bytes) -> Cells:
        try:
            return msgspec.structs.astuple(decoder.decode(data))
        except msgspec.DecodeError:
            return nulls

    return read


def cell_key(type: ColumnType, descending: bool = False) -> KeyOf:
    """A function from a cell of this type, as it is in JSON, to its key. It raises ValueError or TypeError for what is no such cell."""
    if type == "string":
        return _text_down if descending else _text_up
    encode = _ENCODERS[type]

    def key(cell: Any) -> bytes:
        if cell is None:
            return NULL
        value = encode(cell)
        if value is None:
            return _NAN
        return _VALUE + (value.translate(_FLIPPED) if descending else value)

    return key


def tolerant(key: KeyOf) -> KeyOf:
    """The same function, but a cell that is not of its type counts as null: a row's content never throws."""

    def safe(cell: Any) -> bytes:
        try:
            return key(cell)
        except (ValueError, TypeError, AttributeError):
            return NULL

    return safe


def cell_text(cell: Any) -> str:
    """A cell as a person reads it, for text conditions; null is empty."""
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()


def _text_up(cell: Any) -> bytes:
    return NULL if cell is None else _VALUE + cell.encode("utf-8", "surrogatepass").translate(_UP) + b"\x00"


def _text_down(cell: Any) -> bytes:
    return NULL if cell is None else _VALUE + cell.encode("utf-8", "surrogatepass").translate(_DOWN) + b"\xff"


def _int64(cell: Any) -> bytes:
    number = int(cell) if isinstance(cell, str) else cell
    if not isinstance(number, int) or isinstance(number, bool) or not _INT64_MIN <= number <= _INT64_MAX:
        raise ValueError(f"{cell!r} is not an int64")
    return (number - _INT64_MIN).to_bytes(8, "big")


def _double(cell: Any) -> bytes | None:
    if isinstance(cell, bool):
        raise ValueError(f"{cell!r} is not a double")
    number = float(cell) + 0.0
    if math.isnan(number):
        return None
    packed = _DOUBLE.pack(number)
    return packed.translate(_FLIPPED) if packed[0] & 0x80 else bytes((packed[0] | 0x80,)) + packed[1:]


def _boolean(cell: Any) -> bytes:
    if not isinstance(cell, bool):
        raise ValueError(f"{cell!r} is not a boolean")
    return b"\x01" if cell else b"\x00"


def _timestamp(cell: Any) -> bytes:
    moment = datetime.fromisoformat(cell)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return _int64((aware - _EPOCH) // _MICROSECOND)


_ENCODERS: dict[ColumnType, Callable[[Any], bytes | None]] = {
    "int64": _int64,
    "double": _double,
    "boolean": _boolean,
    "timestamp": _timestamp,
}
