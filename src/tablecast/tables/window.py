"""Which part of a view somebody looks at."""

from dataclasses import dataclass
from typing import Self

from tablecast.errors import BadWindow

WINDOW_BYTES = 16 << 20


@dataclass(frozen=True)
class Window:
    """Up to `size` rows; fewer where these are more than `bytes` together."""

    offset: int
    size: int
    bytes: int = WINDOW_BYTES

    @classmethod
    def checked(cls, offset: int, size: int, limit: int) -> Self:
        """A window of at most `limit` rows. Raises BadWindow."""
        if offset < 0:
            raise BadWindow("offset", offset, "0 or more")
        if not 1 <= size <= limit:
            raise BadWindow("size", size, f"1 to {limit} (server.window_rows)")
        return cls(offset, size)

    def start(self, total: int) -> int:
        """The index of the first row: an offset beyond the end is moved back to the last full window."""
        return min(self.offset, max(0, total - self.size))
