"""The messages of tablecast.v1, one class each. Their fields are the wire's; protocol/golden/messages.json holds an example of every one."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tablecast.errors import MessageUnreadable, ViewerError

PROTOCOL = "tablecast.v1"
MOST_REASON = 300

Sub = Annotated[int, Meta(ge=1, le=2**53)]
Request = Annotated[int, Meta(ge=1, le=2**53)]
Revision = Annotated[int, Meta(ge=1, le=2**53)]
Ahead = Annotated[int, Meta(ge=0, le=64)]
PingId = Annotated[int, Meta(ge=-(2**53), le=2**53)]
"""Every reader of JSON knows these numbers exactly."""


class Sort(Struct, frozen=True):
    column: str
    descending: bool = False
    locale: str | UnsetType = UNSET


class Login(Struct, frozen=True, tag_field="type", tag="login"):
    key: str


class Open(Struct, frozen=True, tag_field="type", tag="open"):
    sub: Sub
    request: Request
    table: str
    offset: int
    size: int
    sort: tuple[Sort, ...] = ()
    filter: dict[str, Any] | None = None
    search: str | None = None
    group: dict[str, Any] | None = None
    ahead: Ahead = 0
    """So many frames at most are sent before the viewer has said that it `Took` them; 0 for as many as its socket takes."""


class Move(Struct, frozen=True, tag_field="type", tag="move"):
    sub: Sub
    request: Request
    offset: int
    size: int


class Shape(Struct, frozen=True, tag_field="type", tag="shape"):
    sub: Sub
    request: Request
    offset: int
    size: int
    sort: tuple[Sort, ...] = ()
    filter: dict[str, Any] | None = None
    search: str | None = None
    group: dict[str, Any] | None = None


class Close(Struct, frozen=True, tag_field="type", tag="close"):
    sub: Sub


class Find(Struct, frozen=True, tag_field="type", tag="find"):
    sub: Sub
    row: str


class Took(Struct, frozen=True, tag_field="type", tag="took"):
    """The viewer is done with the frames up to this revision."""

    sub: Sub
    revision: Revision


class Ping(Struct, frozen=True, tag_field="type", tag="ping"):
    id: PingId


ViewerMessage = Login | Open | Move | Shape | Close | Find | Took | Ping


class Limits(Struct, frozen=True, rename="camel"):
    window_rows: int
    subscriptions: int
    message_bytes: int


Role = Literal["viewer", "operator"]


class Welcome(Struct, frozen=True, tag_field="type", tag="welcome"):
    server: str
    limits: Limits
    role: Role = "operator"
    """What this login may do. An older server does not tell, and everybody may do everything there."""
    protocol: str = PROTOCOL


FeedState = Literal["filling", "live", "stale"]


class Feed(Struct, frozen=True, tag_field="type", tag="feed"):
    state: FeedState
    message: str | None = None


class ColumnInfo(Struct, frozen=True):
    name: str
    type: str


class Opened(Struct, frozen=True, tag_field="type", tag="opened"):
    sub: int
    request: int
    table: str
    generation: int
    columns: tuple[ColumnInfo, ...]


class Frame(Struct, frozen=True, tag_field="type", tag="frame", omit_defaults=True):
    """A frame as a reader sees it. A server never makes one: it splices the bytes of rows, see frames.py."""

    sub: int
    request: int
    generation: int
    revision: int
    total: int
    offset: int
    rows: dict[str, dict[str, Any]]
    ids: tuple[str, ...] | UnsetType = UNSET
    late: int = 0
    """For how many milliseconds it waited for the viewer, if that is worth telling: before it, what the viewer showed was that old."""


class Closed(Struct, frozen=True, tag_field="type", tag="closed"):
    sub: int


class Found(Struct, frozen=True, tag_field="type", tag="found"):
    sub: int
    row: str
    index: int | None
    """Where the row stands in the view; None when it is not in it."""


class Error(Struct, frozen=True, tag_field="type", tag="error", rename="camel"):
    code: str
    message: str
    hint: str | None = None
    sub: int | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET
    """In how many seconds it may be tried again, where that is known."""

    @classmethod
    def of(cls, error: ViewerError, sub: int | None = None) -> "Error":
        return cls(error.code, error.message, error.hint, UNSET if sub is None else sub, getattr(error, "retry_after", UNSET))


class Pong(Struct, frozen=True, tag_field="type", tag="pong"):
    id: int


ServerMessage = Welcome | Feed | Opened | Frame | Closed | Found | Error | Pong

_viewer: msgspec.json.Decoder[ViewerMessage] = msgspec.json.Decoder(ViewerMessage)
_server: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)
_encoder = msgspec.json.Encoder()


def decode_viewer(data: bytes | str) -> ViewerMessage:
    """A message from a viewer. Raises MessageUnreadable with the reason: not JSON, an unknown type, a missing or wrong field."""
    try:
        return _viewer.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageUnreadable(_reason(error)) from None


def decode_server(data: bytes | str) -> ServerMessage:
    """A message from a server. Raises MessageUnreadable."""
    try:
        return _server.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MessageUnreadable(_reason(error)) from None


def _reason(error: Exception) -> str:
    """Without all of what was sent, which some of them tell again."""
    return str(error)[:MOST_REASON].rstrip(".")


def encode(message: ViewerMessage | ServerMessage) -> bytes:
    return _encoder.encode(message)
