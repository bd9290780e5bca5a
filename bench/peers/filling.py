"""Peers that fill accounts_ui and final_ui from a backlog, as our load `small` does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.backlog import Backlog, Truth
from bench.load import LOADS
from bench.peers.deephaven import Deephaven, deephaven, fetched
from bench.peers.deephaven_viewers import differing
from tablecast.settings import KafkaSettings

Say = Callable[[str], None]


class Fill(Protocol):
    def __call__(self, kafka: KafkaSettings, backlog: Backlog, truth: Truth, folder: Path, say: Say) -> dict[str, Any]:
        """Figures, with `cold`, `warm` and how many rows are wrong."""


@dataclass(frozen=True)
class FillingPeer:
    """`fetch` gets what `filled` needs; to be called before anything is measured."""

    fetch: Callable[[Say], object]
    filled: Fill


def filled_by_deephaven(kafka: KafkaSettings, backlog: Backlog, truth: Truth, folder: Path, say: Say) -> dict[str, Any]:
    """In a process that has just started, and then into a second pair of tables of the same process."""
    with deephaven(kafka, None, folder, say) as peer:
        states = {}
        wrong = 0
        for state in ("cold", "warm"):
            filled = peer.fill(backlog, f"_{state}")
            states[state] = {"seconds": round(filled.seconds, 2), "messages_per_s": round(backlog.messages / filled.seconds), **peer.memory()}
            say(f"Deephaven, {state}: filled {states[state]['messages_per_s']:,} messages a second")
            wrong += sum(_wrong(peer, table, f"_{state}", truth) for table in LOADS["small"].tables)
        about = {"version": peer.version, "settings": peer.settings, "start_seconds": round(peer.start_seconds, 2)}
    return {**about, "messages_per_s": states["cold"]["messages_per_s"], **states, "wrong": wrong}


def _wrong(peer: Deephaven, table: str, name: str, truth: Truth) -> int:
    return differing(peer.rows(table, name), truth.rows(table, keep_last=True))


PEERS: Mapping[str, FillingPeer] = {"deephaven": FillingPeer(fetched, filled_by_deephaven)}
