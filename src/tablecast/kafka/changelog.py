"""The format of a changelog record, which Spark writes and servers read.

key      the row id
value    the row as JSON, null when the row is gone
headers  `version`: one or two orders, left and right, joined by `|`; the right one is empty until the right side exists
         `order`: where the row stands in its table; absent where that is the left order of its version
An order is `timestamp:partition:offset` of a source record, the timestamp in milliseconds.

Spark may write an older state of a row again, so a reader takes a row only if its version supersedes the known one: neither part is older
and one is newer, and a missing right part is older than any. `order` is where the row's key was first seen: the earliest that was said counts.
"""

VERSION_HEADER = "version"
ORDER_HEADER = "order"

MIB = 1 << 20


def record_bytes(row_bytes: int) -> int:
    """The largest record when an encoded source row has at most `row_bytes`: a joined row has two, its row id may be one, and there are headers."""
    return 3 * row_bytes + MIB


def seed_bytes(row_bytes: int) -> int:
    """The largest seed: encoded rows as text inside JSON, which may double them, the key, and the rest of the record."""
    return 2 * seeded_bytes(row_bytes) + 2 * row_bytes + MIB


def seeded_bytes(row_bytes: int) -> int:
    """How many bytes of encoded rows go into a seed at most."""
    return 3 * row_bytes
