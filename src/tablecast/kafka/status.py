"""The records of the status topic: one a generation, keyed by its number, rewritten at each change of its state; the pulse; and how far the user's
control topic is copied. Beside it, the records of the servers' topic: what each table server shows.

The pulse says, every PULSE_SECONDS, that the orchestrator lives and its queries run. Rows without a pulse behind them may be old.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tablecast.catalog import NAME

T = TypeVar("T")
Name = Annotated[str, Meta(pattern=rf"\A{NAME.pattern}\Z")]
"""Of a table, an alias or a column. It goes into paths, file names, headers and labels, so nothing else is read as one."""
Topic = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._-]{1,249}\Z")]
Number = Annotated[int, Meta(ge=0, le=2**53)]

State = Literal["building", "hydrating", "ready", "live", "lingering", "retired", "failed"]

COMING: frozenset[State] = frozenset({"building", "hydrating", "ready"})
"""The states of a generation in the making."""

PULSE_KEY = b"pulse"
COPIED_KEY = b"copied"
PULSE_SECONDS = 1.0
SERVER_SECONDS = 5.0
SERVER_GONE_SECONDS = 3 * SERVER_SECONDS
"""A server that is silent for longer does not count."""
BAR = 20


class Pulse(msgspec.Struct, frozen=True):
    """`failing` is why a query does not run, null while all do. `leader` is which orchestrator says so, null once it has given up the lead."""

    failing: str | None = None
    leader: str | None = None

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


class Copied(msgspec.Struct, frozen=True):
    """Up to where the user's control topic stands on our own: partition to the next offset. `topic` is its id, because another one of its name
    begins anew."""

    topic: str
    offsets: dict[int, Annotated[int, Meta(ge=0, le=2**63 - 1)]]

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


class ColumnStatus(msgspec.Struct, frozen=True):
    name: Name
    type: str


class TableStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a server needs to serve a table. `max_rows` and `max_seconds` bound it: servers trim by order."""

    changelog: Topic
    columns: tuple[ColumnStatus, ...]
    max_rows: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    max_seconds: Annotated[float, Meta(gt=0, le=1e12)] | None = None

    def __post_init__(self) -> None:
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError("two columns have one name")


class Progress(msgspec.Struct, frozen=True):
    """How far a fill has come: records done, of how many, and how many a second."""

    done: int
    of: int
    per_second: int

    def __str__(self) -> str:
        share = self.done / self.of if self.of else 1.0
        bar = "█" * round(BAR * share)
        return f"{bar:░<{BAR}} {share:4.0%} {self.done:,} of {self.of:,} records, {self.per_second:,} a second"


class GenerationStatus(msgspec.Struct, frozen=True):
    """A generation as the orchestrator last announced it. Exactly one is `live`; servers show that one."""

    generation: Number
    state: State
    topics: dict[str, str]
    tables: dict[Name, TableStatus]
    aliases: dict[Name, Name]
    fingerprint: str
    changed: str
    """When this state was reached, ISO 8601, UTC."""
    error: str | None = None
    progress: Progress | None = None
    """Of the fill, while it is hydrating."""
    ends: dict[str, int] = {}
    """Changelog to the offset up to which a server must have read before it shows this generation. Told from `ready` on."""
    join: dict[str, str] = {}
    """Table to how it is joined, for those whose join a control message changes."""
    requested: str | None = None
    """The id of the control message that asked for it; null if it was the configuration."""
    hydrated: float | None = None
    """How many seconds it took until it was ready."""
    out_of_history: int = 0
    """Records that newer ones of their key pushed out of the history: their rows keep the values that they had. Counted at checkpoints."""

    def key(self) -> bytes:
        return str(self.generation).encode()

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


class ServerStatus(msgspec.Struct, frozen=True):
    """What a table server says of itself on the servers' topic, keyed by its id: at each flip, and every SERVER_SECONDS."""

    server: str
    shows: int | None
    """The generation that its viewers see."""
    reads: int | None
    """The generation that it reads beside that one."""
    at: str
    """ISO 8601, UTC."""

    def key(self) -> bytes:
        return self.server.encode()

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


def is_generation(key: bytes) -> bool:
    """Whether a record of this key tells of a generation. What else stands on the status topic is for who knows it."""
    return key.isdigit()


def newest_live(statuses: Iterable[GenerationStatus]) -> GenerationStatus | None:
    """The newest one that is called live."""
    return max((status for status in statuses if status.state == "live"), key=lambda status: status.generation, default=None)


def decode_pulse(value: bytes) -> Pulse:
    """Raises msgspec.DecodeError, as the others do, and nothing else."""
    return _decoded(value, Pulse)


def decode_copied(value: bytes) -> Copied:
    return _decoded(value, Copied)


def decode_status(value: bytes) -> GenerationStatus:
    return _decoded(value, GenerationStatus)


def decode_server(value: bytes) -> ServerStatus:
    return _decoded(value, ServerStatus)


def _decoded(value: bytes, type: type[T]) -> T:
    try:
        return msgspec.json.decode(value, type=type)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from None


def told_time(moment: datetime) -> str:
    """As all our statuses tell it: ISO 8601, UTC, milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
