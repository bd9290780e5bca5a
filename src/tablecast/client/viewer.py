"""A connection to a table server, for scripts: everything waits until it is done."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_socket
from websockets.typing import Subprotocol

from tablecast.client.model import WindowModel, WindowState
from tablecast.errors import ServerRefused, ServerUnreachable, UnknownSubscription
from tablecast.wire.messages import (
    PROTOCOL,
    Close,
    Closed,
    ColumnInfo,
    Error,
    Feed,
    Find,
    Found,
    Frame,
    Login,
    Move,
    Open,
    Opened,
    Role,
    ServerMessage,
    Shape,
    Sort,
    ViewerMessage,
    Welcome,
    decode_server,
    encode,
)


def connect(url: str, key: str, timeout: float = 10.0) -> "Viewer":
    """Logs in at the server that a browser finds at `url`, with a key or a token. Raises ServerUnreachable, or ServerRefused for a wrong one."""
    with ExitStack() as stack:
        try:
            dialled = connect_socket(socket_url(url), subprotocols=[Subprotocol(PROTOCOL)], open_timeout=timeout, max_size=None, compression=None)
            socket = stack.enter_context(dialled)
        except (OSError, InvalidURI, InvalidHandshake) as error:
            raise ServerUnreachable(url, str(error) or "no answer in time") from error
        viewer = Viewer(socket, url)
        try:
            viewer.login(key, timeout)
        except TimeoutError as error:
            raise ServerUnreachable(url, "it answers, but not the login in time") from error
        stack.pop_all()
        return viewer


def socket_url(url: str) -> str:
    """http://host:port to ws://host:port/ws; an address of a socket stays what it is."""
    parts = urlsplit(url)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    path = parts.path if parts.path.endswith("/ws") else parts.path.rstrip("/") + "/ws"
    return urlunsplit((scheme, parts.netloc, path, "", ""))


class Viewer:
    """One connection. Several tables may be open on it; waiting for one takes in what comes for the others. `feed` is the last word of the server,
    `role` what this login may do."""

    def __init__(self, socket: ClientConnection, url: str) -> None:
        self.feed: Feed | None = None
        self.role: Role | None = None
        self._socket = socket
        self._url = url
        self._tables: dict[int, OpenTable] = {}
        self._subs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def login(self, key: str, timeout: float | None = None) -> None:
        self.send(Login(key))
        while not isinstance(self.receive(timeout), Welcome):
            pass

    def open(self, table: str, offset: int = 0, size: int = 300, **view: Any) -> "OpenTable":
        """Opens a window of a table; `view` may have sort, filter, search and group. What is refused is raised when the window is waited for."""
        self._subs += 1
        opened = OpenTable(self, self._subs)
        self._tables[self._subs] = opened
        self.send(Open(self._subs, 1, table, offset, size, **_view(**view)))
        return opened

    def close(self) -> None:
        self._socket.close()

    def send(self, message: ViewerMessage) -> None:
        try:
            self._socket.send(encode(message), text=True)
        except ConnectionClosed as error:
            raise ServerUnreachable(self._url, str(error)) from error

    def receive(self, timeout: float | None = None) -> ServerMessage:
        """The next message, already handed to whom it is for. Raises TimeoutError, ServerUnreachable, ServerRefused."""
        try:
            message = decode_server(self._socket.recv(timeout))
        except ConnectionClosed as error:
            raise ServerUnreachable(self._url, str(error)) from error
        if isinstance(message, Feed):
            self.feed = message
        elif isinstance(message, Welcome):
            self.role = message.role
        elif isinstance(message, Opened | Frame | Closed | Found) or (isinstance(message, Error) and isinstance(message.sub, int)):
            table = self._tables.get(message.sub if isinstance(message.sub, int) else 0)
            if table is not None:
                table.take(message)
        elif isinstance(message, Error):
            raise ServerRefused(message.code, message.message, message.hint or "")
        return message

    def forget(self, sub: int) -> None:
        self._tables.pop(sub, None)


class OpenTable:
    """A window of one table. Iterating waits for each next state, without end; states that came meanwhile are skipped for the newest."""

    def __init__(self, viewer: Viewer, sub: int) -> None:
        self.columns: Sequence[ColumnInfo] = ()
        self.model = WindowModel()
        self._viewer = viewer
        self._sub = sub
        self._fresh = False
        self._closed = False
        self._errors: deque[Error] = deque()
        self._found: Found | None = None

    def __iter__(self) -> Iterator[WindowState]:
        while not self._closed:
            yield self.wait()

    def wait(self, timeout: float | None = None) -> WindowState:
        """The newest state that was not given yet. Raises ServerRefused for what the server says of this table, TimeoutError, ServerUnreachable."""
        while True:
            self._raise_refusal()
            if self._fresh and self.model.window is not None:
                self._fresh = False
                return self.model.window
            self._viewer.receive(timeout)

    def move(self, offset: int, size: int) -> None:
        self._viewer.send(Move(self._sub, self._next_request(), offset, size))

    def shape(self, offset: int = 0, size: int = 300, **view: Any) -> None:
        self._viewer.send(Shape(self._sub, self._next_request(), offset, size, **_view(**view)))

    def find(self, row: str, timeout: float | None = None) -> int | None:
        """The index of this row in the view, wherever it is; None when it is not there. Raises ServerRefused, TimeoutError, ServerUnreachable."""
        self._viewer.send(Find(self._sub, row))
        self._found = None
        while self._found is None or self._found.row != row:
            self._raise_refusal()
            self._viewer.receive(timeout)
        return self._found.index

    def close(self, timeout: float | None = None) -> None:
        """Returns when the server has closed it, or knows nothing of it because it refused to open it."""
        self._viewer.send(Close(self._sub))
        while not (self._closed or any(error.code == UnknownSubscription.code for error in self._errors)):
            self._viewer.receive(timeout)
        self._closed = True
        self._viewer.forget(self._sub)

    def take(self, message: Opened | Frame | Closed | Found | Error) -> None:
        match message:
            case Opened():
                self.columns = message.columns
            case Frame():
                self._fresh = self.model.apply(message) or self._fresh
            case Closed():
                self._closed = True
            case Found():
                self._found = message
            case Error():
                self._errors.append(message)

    def _raise_refusal(self) -> None:
        if self._errors:
            error = self._errors.popleft()
            raise ServerRefused(error.code, error.message, error.hint or "")

    def _next_request(self) -> int:
        self.model.request += 1
        return self.model.request


def _view(
    sort: Sequence[tuple[str, bool] | tuple[str, bool, str]] = (),
    filter: dict[str, Any] | None = None,
    search: str | None = None,
    group: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`sort` is a list of (column, descending), or (column, descending, locale) for text in the order of a language."""
    return {"sort": tuple(Sort(*key) for key in sort), "filter": filter, "search": search, "group": group}
