"""The format of a changelog record, which Spark writes and servers read.

key      the row id
value    the row as JSON, null when the row is gone
headers  `version`: one or two orders, left and right, joined by `|`; the right one is empty until the right side exists
         `order`: where the row stands in its table; absent where that is the left order of its version
An order is `timestamp:partition:offset` of a source record, the timestamp in milliseconds.
"""

from dataclasses import dataclass

VERSION_HEADER = "version"
ORDER_HEADER = "order"

Order = tuple[int, int, int]


@dataclass(frozen=True)
class Version:
    """What a row was made of. Spark may write an older state of a row again, so a reader compares."""

    left: Order
    right: Order | None = None

    def supersedes(self, other: "Version") -> bool:
        """Neither part is older and one is newer. A missing right part is older than any."""
        mine, theirs = self.right or (), other.right or ()
        return self.left >= other.left and mine >= theirs and (self.left, mine) != (other.left, theirs)


def parse_order(text: bytes) -> Order:
    timestamp, partition, offset = text.split(b":")
    return int(timestamp), int(partition), int(offset)


def parse_version(text: bytes) -> Version:
    left, _, right = text.partition(b"|")
    return Version(parse_order(left), parse_order(right) if right else None)
