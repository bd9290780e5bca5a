"""Peers on the same messages as we: from the producer's send to the row in a client of theirs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.arrivals import Arrivals
from bench.figures import curve, summary
from bench.peers.bytewax_join import bytewax_join
from bench.peers.deephaven import deephaven
from bench.peers.deephaven_viewers import differing
from bench.peers.perspective_socket import perspective_socket
from bench.peers.spark_micro_batch import spark_micro_batch
from bench.sender import open_sources
from bench.stack import jars_folder
from bench.trips import Rows, Span, last_rows, taken
from tablecast.jars import Jars
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.settings import KafkaSettings, Settings

Say = Callable[[str], None]


@dataclass(frozen=True)
class Watched:
    """A peer that shows final_ui. `settings` is the sentence for the page: what it was given, and where an arrival is counted."""

    version: str
    settings: str
    arrivals: Arrivals
    rows: Callable[[], Rows]


Opening = Callable[[KafkaSettings, Path, Say], AbstractContextManager[Watched]]


def _deephaven(cycle_ms: int | None) -> Opening:
    @contextmanager
    def opened(kafka: KafkaSettings, folder: Path, say: Say) -> Iterator[Watched]:
        with deephaven(kafka, cycle_ms, folder, say) as peer, peer.watching() as viewers:
            yield Watched(peer.version, peer.settings, viewers, viewers.rows)

    return opened


def _joining(peer: Callable[[KafkaSettings, Path, Say], AbstractContextManager[Any]]) -> Opening:
    @contextmanager
    def opened(kafka: KafkaSettings, folder: Path, say: Say) -> Iterator[Watched]:
        with peer(kafka, folder, say) as running, running.watching() as seen:
            yield Watched(running.version, running.settings, seen, seen.rows)

    return opened


PEERS: Mapping[str, Opening] = {
    "deephaven": _deephaven(None),
    "deephaven-50ms": _deephaven(50),
    "deephaven-10ms": _deephaven(10),
    "perspective": _joining(perspective_socket),
    "bytewax": _joining(bytewax_join),
    "spark-micro-batch": _joining(spark_micro_batch),
}


SOON_WARM_SECONDS = 10.0
SOON_WARM = ("deephaven", "perspective", "bytewax")
"""Whose figures do not depend on what Java has compiled: they have none, or wait for a cycle of a second."""


def measured(names: Sequence[str], span: Span, folder: Path, say: Say) -> dict[str, dict[str, Any]]:
    """The figures of these peers, one after the other over a broker that none of them shares with us. The first has to warm it up too."""
    if not names:
        return {}
    jars = jars_folder()
    folder.mkdir()
    own = Settings().replaced("pipeline", state_dir=folder / "broker", jars=jars)
    with EmbeddedBroker(own, Jars(jars)) as broker:
        return {name: _measured(name, span, broker.kafka, folder, say) for name in names}


def _measured(name: str, span: Span, kafka: KafkaSettings, folder: Path, say: Say) -> dict[str, Any]:
    """Over topics that nobody has used before, and how many of its rows were wrong in the end."""
    span = replace(span, settle=min(span.settle, SOON_WARM_SECONDS)) if name in SOON_WARM else span
    topics = Topics(kafka, "source")
    topics.delete(topics.names())
    open_sources(kafka, span.keys)
    with PEERS[name](kafka, folder / name, say) as peer:
        say(f"{name}: {span.settle:g} s to warm up, {span.seconds:g} s measured")
        course = taken(kafka, span, peer.arrivals, say)
        wrong = differing(peer.rows(), last_rows(span))
        told = {"version": peer.version, "settings": peer.settings, "seconds": span.seconds, "warmup": span.settle}
    whole = summary(course.trips)
    say(f"{name}: p50 {whole['p50_ms']} ms, p99 {whole['p99_ms']} ms, {len(course.missing)} missing, {wrong} rows wrong")
    pauses = {"all_p99_ms": whole["p99_ms"], "all_curve": curve(course.trips)}
    return {**told, **whole, **pauses, "missing": len(course.missing), "wrong": wrong}
