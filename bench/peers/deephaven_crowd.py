"""Many viewers of Deephaven while users and accounts come at a steady rate: how long each message took to each of them, and whether they keep up."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import percentile
from bench.peers.deephaven import VERSION, Deephaven, deephaven, told
from bench.peers.deephaven_viewers import Sight, Viewers, differing
from bench.sender import Schedule, Sender, Sent, open_sources
from bench.stack import StackError
from bench.trips import Rows, Span, last_rows, with_replaced
from bench.usage import Meter
from tablecast.settings import KafkaSettings

CYCLE_MS = 50
CATCH_UP_SECONDS = 15.0
POLL_SECONDS = 0.25
LAG_MS = 1000.0
"""A viewer lags that got the messages of the last second this late, in the median. One that keeps up needs little more than a cycle."""
PARTS = 4


@dataclass(frozen=True)
class Watched:
    """One run: what was sent, what each viewer saw, from when on and how long was measured, when viewers were looked at last, and the cores that
    everybody needed meanwhile."""

    span: Span
    sent: Sent
    sights: Sequence[Sight]
    began: float
    seconds: float
    ended: float
    cores: Mapping[str, float]

    @property
    def frames_per_second(self) -> list[float]:
        """Of each viewer, while the measured messages were sent; the slowest first."""
        over = self.began + self.seconds
        return sorted(sum(self.began <= moment < over for moment in sight.updates) / self.seconds for sight in self.sights)


def crowd(kafka: KafkaSettings, viewers: int, span: Span, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Figures of so many viewers of a server with cycles of 50 ms, while it gets this span of messages; `failed` says why there are none."""
    about = {"version": VERSION, "settings": told(CYCLE_MS), "asked_viewers": viewers}
    open_sources(kafka, span.keys)
    try:
        with deephaven(kafka, CYCLE_MS, folder, say) as peer, peer.watching(viewers) as watching:
            say(f"Deephaven: {watching.opened} of {viewers} viewers show the table")
            watched = _watched(peer, watching, kafka, span)
            memory, expected = peer.memory(), last_rows(span)
            wrong = differing(peer.rows("final_ui"), expected)
    except StackError as error:
        say(f"Deephaven: {error}")
        return {**about, "failed": str(error).partition("\n")[0]}
    return {**about, **figures(watched), **memory, "wrong": wrong, "wrong_viewers": wrong_viewers(watched, expected)}


def _watched(peer: Deephaven, watching: Viewers, kafka: KafkaSettings, span: Span) -> Watched:
    sender = Sender(kafka, Schedule(span.subject, span.rate, span.keys, len(span.numbers), span.first))
    sender.start()
    time.sleep(span.settle)
    # Nobody is asked anything until all is sent: a viewer that cannot keep up answers only then.
    began, meter = time.time(), Meter({"server": peer.process, **{f"viewers {place}": process for place, process in enumerate(watching.processes)}})
    sent = sender.wait()
    used = meter.used()
    server = used.cores["server"]
    cores = {"server": server, "viewers": round(sum(used.cores.values()) - server, 4)}
    deadline = time.monotonic() + CATCH_UP_SECONDS
    while watching.state().newest < span.numbers[-1] and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    ended = time.time()
    return Watched(span, sent, watching.sights(), began, used.seconds, ended, cores)


def wrong_viewers(watched: Watched, expected: Rows) -> int:
    """Viewers that have seen the last message and show something else than the truth. Of one that is still behind nothing can be said."""
    truth = (len(expected), sum(user + (account or 0) for user, account in expected.values()))
    there = [sight for sight in watched.sights if watched.span.numbers[-1] in sight.seen]
    return sum((sight.rows, sight.sum) != truth for sight in there)


def figures(watched: Watched) -> dict[str, Any]:
    """A message that a viewer never got counts as one that came when it was looked at for the last time: it took longer than that."""
    span, keys = watched.span, watched.span.key_by_number
    arrived = [with_replaced(span.subject, keys, sight.seen) for sight in watched.sights]
    lags = [[1000 * (there.get(number, watched.ended) - watched.sent.times[number - span.first]) for number in span.measured] for there in arrived]
    times, parts = sorted(ms for viewer in lags for ms in viewer), _by_parts(lags)
    rates = watched.frames_per_second
    shares = {"p50_ms": 50, "p90_ms": 90, "p99_ms": 99, "max_ms": 100}
    return {
        "viewers": len(lags),
        "n": len(times),
        "seconds": round(watched.seconds, 1),
        **{name: round(percentile(times, percent), 1) for name, percent in shares.items()},
        "frames_per_second_min": round(rates[0], 1),
        "frames_per_second_median": round(rates[len(rates) // 2], 1),
        "lagging": sum(median(viewer[-round(span.rate) :]) > LAG_MS for viewer in lags),
        "lag_ms_by_quarter": parts,
        "lag_grows": parts[-1] > LAG_MS and parts[-1] > 2 * parts[0],
        "unseen": sum(number not in there for there in arrived for number in span.measured),
        "lost": sum(sight.lost for sight in watched.sights),
        "cores": dict(watched.cores),
    }


def _by_parts(lags: Sequence[Sequence[float]]) -> list[float]:
    """The median over all viewers of each part of the run: it grows where they fall behind."""
    size = -(-len(lags[0]) // PARTS)
    return [round(median(ms for viewer in lags for ms in viewer[begin : begin + size]), 1) for begin in range(0, len(lags[0]), size)]
