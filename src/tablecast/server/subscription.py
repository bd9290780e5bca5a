"""One subscription of one viewer: what it shows, and what the viewer knows of it."""

from collections.abc import Callable

from tablecast.catalog import Column
from tablecast.errors import ViewerError
from tablecast.tables.generation import Generation, SharedViewport
from tablecast.tables.view import ViewSpec
from tablecast.tables.viewport import Difference, Snapshot
from tablecast.tables.window import Window
from tablecast.wire.frames import frame_body, frame_head
from tablecast.wire.messages import ColumnInfo, Found, Opened, encode

Failed = Callable[["Subscription", ViewerError], None]


class Subscription:
    """Lives from `open` to `close`, across generations. Without a viewport it waits for a generation that has its table."""

    def __init__(self, sub: int, table: str, mark: Callable[[int], None], failed: Failed, ahead: int = 0) -> None:
        """`mark` hears of each change, `failed` why the view has failed. `ahead`: how many frames the viewer takes before it is done with them."""
        self.sub = sub
        self.table = table
        self._mark = mark
        self._failed = failed
        self.request = 0
        self.viewport: SharedViewport | None = None
        self._spec = ViewSpec()
        self._window = Window(0, 1)
        self._generation = 0
        self._ahead = ahead
        self._revision = 0
        self._took = 0
        self._seen: Snapshot | None = None
        self._columns: tuple[Column, ...] | None = None
        self._sought: str | None = None

    def touched(self) -> None:
        self._mark(self.sub)

    def broken(self, error: ViewerError) -> None:
        self._replace(None, None)
        self._failed(self, error)

    @property
    def view(self) -> tuple[str, ViewSpec]:
        """Of which table it shows what."""
        return self.table, self._spec

    @property
    def opened(self) -> bool:
        """Whether the viewer has been told that it exists."""
        return self._columns is not None

    def look(self, generation: Generation | None, spec: ViewSpec | None, window: Window) -> None:
        """Another view (None: the same one) or window. Raises UnknownTable or BadView, and is then as it was before."""
        spec = self._spec if spec is None else spec
        viewport = None if generation is None else generation.find(self.table).open(spec, window, self)
        self._spec, self._window = spec, window
        self._replace(viewport, generation)

    def follow(self, generation: Generation | None) -> None:
        """The same window of the same view in another generation. Raises UnknownTable or BadView, and then shows nothing until a generation fits."""
        self._replace(None, None)
        if generation is not None:
            self._replace(generation.find(self.table).open(self._spec, self._window, self), generation)

    def answer_whole(self, request: int) -> None:
        """From now on frames answer this request, and the next one is whole."""
        self.request = request
        self._seen = None

    def seek(self, row: str) -> None:
        """The next cut of a view that is there tells where this row stands. A question that still waits is replaced."""
        self._sought = row

    @property
    def full(self) -> bool:
        """The viewer has as many frames as it wants before it is done with them. Answers to requests and other generations do not wait for that."""
        return 0 < self._ahead <= self._revision - self._took and self._seen is not None

    def took(self, revision: int) -> bool:
        """The viewer is done with the frames up to this one. Whether that is news."""
        if not self._took < revision <= self._revision:
            return False
        self._took = revision
        return True

    def leave(self) -> None:
        self._replace(None, None)

    def cut(self, waited: float = 0.0) -> list[bytes]:
        """The messages that bring the viewer to the newest state, which waited so many seconds for it. Empty when it is there already, or when
        the view is still being built."""
        if self.viewport is None:
            return []
        columns = self.viewport.columns
        messages = []
        if not self.opened or (self._columns != columns and self.viewport.ready):
            self._columns = columns
            messages.append(self._opened(columns))
        difference = self._difference()
        if difference is not None:
            self._revision += 1
            messages.append(frame_head(self.sub, self.request, self._generation, self._revision, waited) + encoded(difference))
        if self._sought is not None and self.viewport.ready:
            messages.append(encode(Found(self.sub, self._sought, self.viewport.source.index_of(self._sought))))
            self._sought = None
        return messages

    def _difference(self) -> Difference | None:
        if self.viewport is None or not self.viewport.ready:
            return None
        snapshot = self.viewport.snapshot()
        difference = snapshot.since(self._seen)
        self._seen = snapshot
        return difference

    def _opened(self, columns: tuple[Column, ...]) -> bytes:
        infos = tuple(ColumnInfo(column.name, column.type) for column in columns)
        return encode(Opened(self.sub, self.request, self.table, self._generation, infos))

    def _replace(self, viewport: SharedViewport | None, generation: Generation | None) -> None:
        if self.viewport is not None and self.viewport is not viewport:
            self.viewport.release(self)
        self.viewport = viewport
        self._seen = None
        if generation is not None:
            self._generation = generation.number


def encoded(difference: Difference) -> bytes:
    """The body of a frame, encoded for the first viewer who needs it and then shared. What it was made of is not kept beside it."""
    if difference.body is None:
        difference.body = frame_body(difference.total, difference.offset, difference.ids, difference.rows)
        difference.ids, difference.rows = None, ()
    return difference.body
