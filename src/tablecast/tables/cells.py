"""Cells of the columns that a view uses: decoded from a row, and turned into bytes that compare as the cells do.

A cell's key begins with its rank: a value before NaN before null, in both directions. After it come the value's bytes, so that
the keys of several columns, put one after another, compare column by column with one memcmp.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite, isnan
from struct import Struct
from struct import error as PackError
from typing import Any

import msgspec

from tablecast.catalog import ColumnType
from tablecast.tables.collation import collation

Cells = tuple[Any, ...]

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a decoder raises, whatever the bytes are."""
KeyOf = Callable[[Any], bytes]
KeysOf = Callable[[Sequence[Any]], Sequence[bytes]]
"""The keys of many cells of one column; it raises for all of them what a KeyOf raises for one."""

NULL = b"\x03"
_NAN = b"\x02"
_VALUE = b"\x01"

_RANKED_DOUBLE = Struct(">Bd").pack
_RANKED_INT64 = Struct(">BQ").pack
_INT64_ZERO = 1 << 63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST, _LAST = ((moment.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND for moment in (datetime.min, datetime.max))
"""Where the year 1 begins and the year 9999 ends in UTC: a text with an offset may say a moment beyond."""

# UTF-8 holds no byte above 0xf4: shifting by one frees 0x00 as an end mark that sorts first, mirroring at 0xfe frees 0xff as one that sorts last.
_UP = bytes(min(byte + 1, 0xFF) for byte in range(256))
_DOWN = bytes(max(0xFE - byte, 0) for byte in range(256))
_FLIPPED = bytes(0xFF - byte for byte in range(256))


def cell_decoder(columns: Sequence[str]) -> Callable[[bytes], Any]:
    """A function that decodes these columns of a row, for `astuple`, and skips the others. It raises one of UNREADABLE."""
    fields: list[tuple[str, Any, Any]] = [(f"c{index}", Any, None) for index in range(len(columns))]
    rename = {f"c{index}": column for index, column in enumerate(columns)}
    return msgspec.json.Decoder(msgspec.defstruct("Cells", fields, rename=rename, gc=False)).decode


def cell_reader(columns: Sequence[str]) -> Callable[[bytes], Cells]:
    """A function that decodes these columns of a row and skips the others. A row that cannot be decoded has null cells."""
    decode, cells_of = cell_decoder(columns), msgspec.structs.astuple
    nulls: Cells = (None,) * len(columns)

    def read(data: bytes) -> Cells:
        try:
            return cells_of(decode(data))
        except UNREADABLE:
            return nulls

    return read


def cell_key(type: ColumnType, descending: bool = False, locale: str | None = None) -> KeyOf:
    """A function from a cell of this type, as it is in JSON, to its key. It raises ValueError or TypeError for what is no such cell.

    Text compares by code points, or as people of the `locale` order it. Raises BadView for a locale that cannot be had.
    """
    if type == "string":
        return _text_key(descending) if locale is None else _collated_key(collation(locale), descending)
    up, down = _KEYS[type]
    return down if descending else up


def cell_keys(type: ColumnType, descending: bool = False, locale: str | None = None) -> KeysOf:
    """As `cell_key`, for many cells at once."""
    key = cell_key(type, descending, locale)
    if type == "double":
        return _double_keys(key, descending)
    return lambda cells: list(map(key, cells))


def tolerant(key: KeyOf) -> KeyOf:
    """The same function, but a cell that is not of its type counts as null: a row's content never throws."""

    def safe(cell: Any) -> bytes:
        try:
            return key(cell)
        except (ValueError, TypeError, AttributeError):
            return NULL

    return safe


def cell_normaliser(type: ColumnType) -> Callable[[Any], Any]:
    """A function from a cell to the one form that all cells with its key have: 1 and 1.0 are one group, and whichever came first is no matter."""
    key, plain = tolerant(cell_key(type)), _PLAIN[type]
    return lambda cell: None if key(cell) == NULL else plain(cell)


def cell_text(cell: Any) -> str:
    """A cell as a person reads it, for text conditions; null is empty."""
    if cell is None:
        return ""
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()


def _text_key(descending: bool) -> KeyOf:
    shifted, end = (_DOWN, b"\xff") if descending else (_UP, b"\x00")

    def key(cell: Any) -> bytes:
        return NULL if cell is None else _VALUE + cell.encode("utf-8", "surrogatepass").translate(shifted) + end

    return key


def _collated_key(sort_key: Callable[[str], bytes], descending: bool) -> KeyOf:
    """A sort key ends with its only zero byte, so mirrored with its only 0xff. Texts that are equal to people stand by code points."""
    exact = _text_key(descending)

    def key(cell: Any) -> bytes:
        if cell is None:
            return NULL
        if not isinstance(cell, str):
            raise TypeError(f"{cell!r} is not a string")
        collated = sort_key(cell)
        return _VALUE + (collated.translate(_FLIPPED) if descending else collated) + exact(cell)

    return key


def int64_of(cell: Any) -> int:
    """Raises ValueError or TypeError."""
    number = int(cell) if isinstance(cell, str) else cell
    if not isinstance(number, int) or isinstance(number, bool) or not -_INT64_ZERO <= number < _INT64_ZERO:
        raise ValueError(f"{cell!r} is not an int64")
    return number


def double_of(cell: Any) -> float:
    """Raises ValueError or TypeError."""
    if isinstance(cell, bool):
        raise ValueError(f"{cell!r} is not a double")
    try:
        return float(cell)
    except OverflowError:
        raise ValueError(f"a number of {cell.bit_length()} bits is not a double") from None


# These run once for each row and change, so they look for the usual form of a cell first.
def _int64_up(cell: Any) -> bytes:
    if type(cell) is str:
        try:
            return _RANKED_INT64(1, int(cell) + _INT64_ZERO)
        except PackError:
            raise ValueError(f"{cell!r} is not an int64") from None
    return NULL if cell is None else _RANKED_INT64(1, int64_of(cell) + _INT64_ZERO)


def _int64_down(cell: Any) -> bytes:
    return NULL if cell is None else _RANKED_INT64(1, _INT64_ZERO - 1 - int64_of(cell))


# The bits of a double compare as its value does, once those of a positive one are negated and those of a negative one are flipped.
def _double_up(cell: Any) -> bytes:
    if cell is None:
        return NULL
    number = (cell if type(cell) is float else double_of(cell)) + 0.0
    if number >= 0:
        return _RANKED_DOUBLE(1, -number)
    return _RANKED_DOUBLE(0xFE, number).translate(_FLIPPED) if number < 0 else _NAN


def _double_down(cell: Any) -> bytes:
    if cell is None:
        return NULL
    number = (cell if type(cell) is float else double_of(cell)) + 0.0
    if number >= 0:
        return _RANKED_DOUBLE(0xFE, -number).translate(_FLIPPED)
    return _RANKED_DOUBLE(1, number) if number < 0 else _NAN


def _double_keys(key: KeyOf, descending: bool) -> KeysOf:
    def keys(cells: Sequence[Any]) -> Sequence[bytes]:
        if set(map(type, cells)) != {float}:
            return list(map(key, cells))
        packed = Struct(f">{len(cells)}d").pack(*[-(cell + 0.0) for cell in cells])
        bits = packed.translate(_FLIPPED) if descending else packed
        # Those that are not negative, as most are, are cut out of what was packed for all of them.
        return [_VALUE + bits[at : at + 8] if cell >= 0 else key(cell) for at, cell in zip(range(0, len(bits), 8), cells, strict=True)]

    return keys


def _boolean_up(cell: Any) -> bytes:
    return NULL if cell is None else b"\x01\x01" if _boolean(cell) else b"\x01\x00"


def _boolean_down(cell: Any) -> bytes:
    return NULL if cell is None else b"\x01\x00" if _boolean(cell) else b"\x01\x01"


def _boolean(cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise ValueError(f"{cell!r} is not a boolean")
    return cell


def _timestamp_up(cell: Any) -> bytes:
    return NULL if cell is None else _int64_up(_microseconds(cell))


def _timestamp_down(cell: Any) -> bytes:
    return NULL if cell is None else _int64_down(_microseconds(cell))


def _microseconds(cell: Any) -> int:
    moment = datetime.fromisoformat(cell)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    microseconds = (aware - _EPOCH) // _MICROSECOND
    if not _FIRST <= microseconds <= _LAST:
        raise ValueError(f"{cell!r} is in no year that can be told")
    return microseconds


def _plain_double(cell: Any) -> float | str:
    number = double_of(cell) + 0.0
    if isfinite(number):
        return number
    return "NaN" if isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _plain_timestamp(cell: Any) -> str:
    """As Spark writes it."""
    moment = _EPOCH + _microseconds(cell) * _MICROSECOND
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


_PLAIN: dict[ColumnType, Callable[[Any], Any]] = {
    "string": lambda cell: cell,
    "int64": lambda cell: str(int64_of(cell)),
    "double": _plain_double,
    "boolean": lambda cell: cell,
    "timestamp": _plain_timestamp,
}
_KEYS: dict[ColumnType, tuple[KeyOf, KeyOf]] = {
    "int64": (_int64_up, _int64_down),
    "double": (_double_up, _double_down),
    "boolean": (_boolean_up, _boolean_down),
    "timestamp": (_timestamp_up, _timestamp_down),
}
