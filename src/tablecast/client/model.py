"""The rows of one window, as frames make them."""

from dataclasses import dataclass, field
from typing import Any

from msgspec import UnsetType

from tablecast.wire.messages import Frame

Row = dict[str, Any]


@dataclass(frozen=True)
class WindowState:
    """A window at one moment: `rows` are pairs of id and row, in order. Cells are as they are on the wire: an int64 is a string of digits."""

    generation: int
    total: int
    offset: int
    rows: tuple[tuple[str, Row], ...]


@dataclass
class WindowModel:
    """Applies frames in the order in which they come. `request` is the newest one that was sent; frames of older ones are dropped."""

    request: int = 1
    window: WindowState | None = None
    _ids: tuple[str, ...] = ()
    _rows: dict[str, Row] = field(default_factory=dict)

    def apply(self, frame: Frame) -> bool:
        """Whether the frame was taken. Raises KeyError for one that names a row that never came, which no server sends."""
        known = self.window
        if frame.request < self.request or (known is not None and frame.generation < known.generation):
            return False
        if known is not None and frame.generation > known.generation:
            self._rows = {}
        self._rows |= frame.rows
        if not isinstance(frame.ids, UnsetType):
            self._ids = frame.ids
            self._rows = {id: self._rows[id] for id in self._ids}
        self.window = WindowState(frame.generation, frame.total, frame.offset, tuple((id, self._rows[id]) for id in self._ids))
        return True
