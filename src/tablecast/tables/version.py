"""Versions and orders as a table keeps them: the bytes of the changelog, taken apart only when two of them are compared.

A version is one or two orders, left and right, joined by `|`; an order is `timestamp:partition:offset`. kafka/changelog.py has the format.
"""

Order = tuple[int, int, int]


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
    left, right = _parts(version)
    known_left, known_right = _parts(known)
    return left >= known_left and right >= known_right and (left, right) != (known_left, known_right)


def _parts(version: bytes) -> tuple[Order, Order | tuple[()]]:
    left, _, right = version.partition(b"|")
    return parse_order(left), parse_order(right) if right else ()
