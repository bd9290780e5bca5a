"""Versions and orders as a table keeps them: the bytes of the changelog, taken apart only when two of them are compared.

A version is one or two orders, left and right, joined by `|`; an order is `timestamp:partition:offset`. kafka/changelog.py has the format.
"""

import re

Order = tuple[int, int, int]

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LAYOUT = re.compile(rb"0+:0+:0+(\|(0+:0+:0+)?)?").fullmatch
_layouts: dict[bytes, int] = {}
"""Versions as they have been seen, all digits as zeros, to where the left order ends. Two of one layout compare as text."""
_MOST_LAYOUTS = 10_000

_TIME_BYTES = 13
_TIMED = re.compile(rb"0{13}:0+:0+").fullmatch
_timed: set[bytes] = set()
"""Orders as they have been seen, all digits as zeros, with a time between the years 2001 and 2286: times of two such compare as text."""


def parse_order(text: bytes) -> Order:
    """Raises ValueError."""
    timestamp, partition, offset = text.split(b":")
    return int(timestamp), int(partition), int(offset)


def left_order(version: bytes) -> bytes:
    return version.partition(b"|")[0]


def supersedes(version: bytes, known: bytes) -> bool:
    """Neither part is older and one is newer. A missing right part is older than any. Raises ValueError."""
    if version == known:
        return False
    layout = version.translate(_DIGITS)
    if known.translate(_DIGITS) == layout and (end := _layouts.get(layout) or _seen(layout)):
        if version[:end] == known[:end]:
            return version > known
        return version[:end] > known[:end] and version[end:] >= known[end:]
    left, _, right = version.partition(b"|")
    known_left, _, known_right = known.partition(b"|")
    if left == known_left:
        return bool(right) and (not known_right or later(right, known_right))
    return later(left, known_left) and (not known_right or right == known_right or (bool(right) and later(right, known_right)))


def _seen(layout: bytes) -> int:
    """Where the left order ends; 0 when this is no version of plain numbers."""
    if not _LAYOUT(layout):
        return 0
    end = len(left_order(layout))
    if len(_layouts) < _MOST_LAYOUTS:
        _layouts[layout] = end
    return end


def later(order: bytes, known: bytes) -> bool:
    """Raises ValueError unless both are orders."""
    time, known_time = order[:_TIME_BYTES], known[:_TIME_BYTES]
    if time != known_time and _has_time(order) and _has_time(known):
        return time > known_time
    return parse_order(order) > parse_order(known)


def _has_time(order: bytes) -> bool:
    layout = order.translate(_DIGITS)
    if layout in _timed:
        return True
    if _TIMED(layout) and len(_timed) < _MOST_LAYOUTS:
        _timed.add(layout)
    return layout in _timed
