"""The records of the status topic: one a generation, keyed by its number, rewritten at each change of its state; and the pulse.

The pulse says, every PULSE_SECONDS, that the orchestrator lives and its queries run. Rows without a pulse behind them may be old.
"""

from typing import Literal

import msgspec

State = Literal["building", "hydrating", "ready", "live", "lingering", "retired", "failed"]


PULSE_KEY = b"pulse"
PULSE_SECONDS = 1.0
BAR = 20


class Pulse(msgspec.Struct, frozen=True):
    """`failing` is why a query does not run, null while all do."""

    failing: str | None = None

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


class ColumnStatus(msgspec.Struct, frozen=True):
    name: str
    type: str


class TableStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a server needs to serve a table. `max_rows` and `max_seconds` bound it: servers trim by order."""

    changelog: str
    columns: tuple[ColumnStatus, ...]
    max_rows: int | None = None
    max_seconds: float | None = None


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

    generation: int
    state: State
    topics: dict[str, str]
    tables: dict[str, TableStatus]
    aliases: dict[str, str]
    fingerprint: str
    changed: str
    """When this state was reached, ISO 8601, UTC."""
    error: str | None = None
    progress: Progress | None = None
    """Of the fill, while it is hydrating."""
    out_of_history: int = 0
    """Records that newer ones of their key pushed out of the history: their rows keep the values that they had. Counted at checkpoints."""

    def key(self) -> bytes:
        return str(self.generation).encode()

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


def decode_pulse(value: bytes) -> Pulse:
    return msgspec.json.decode(value, type=Pulse)


def decode_status(value: bytes) -> GenerationStatus:
    return msgspec.json.decode(value, type=GenerationStatus)
