"""What the server counts, as Prometheus reads it."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from tablecast.kafka.status import State
from tablecast.server.counters import Durations
from tablecast.server.filling import Filling
from tablecast.server.hub import Hub

Sample = tuple[Mapping[str, str], float]

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True)
class FeedFigures:
    """How the reading of changelogs goes, at this moment."""

    lag: int = 0
    """Records that are written but not read yet."""
    lag_seconds: float = 0.0
    """How old the newest record is that was read of a changelog, while there are newer ones; of the one that is furthest behind."""
    rejected: int = 0
    reads: int | None = None
    """The generation that is read beside the one that is shown."""
    ages: Mapping[str, float] = field(default_factory=dict)
    """Table to the seconds since its newest record was written."""


def feed_figures(shown: Filling | None, coming: Filling | None) -> FeedFigures:
    """How the reading of the generation that is shown goes, and which one is read beside it."""
    reads = coming.number if coming is not None else None
    if shown is None:
        return FeedFigures(reads=reads)
    reader, now = shown.reader, time.time()
    written = reader.written()
    ages = {name: now - written[table.changelog] for name, table in shown.follower.status.tables.items() if table.changelog in written}
    # A busy changelog must not hide one that is stuck.
    waiting = [now - written.get(topic, now) for topic, lag in reader.lags.items() if lag]
    return FeedFigures(sum(reader.lags.values()), max(waiting, default=0.0), shown.follower.rejected, reads, ages)


def exposition(hub: Hub, feed: FeedFigures) -> str:
    """The text format of Prometheus."""
    return "".join([*_tables(hub, feed), *_viewers(hub), *_feed(hub, feed)])


def _tables(hub: Hub, feed: FeedFigures) -> Iterable[str]:
    generation, counters = hub.generation, hub.counters
    tables = generation.tables() if generation is not None else []
    rows = [({"table": table.name}, len(table)) for table in tables]
    updates = [({"table": table.name}, table.changes) for table in tables]
    views = [({"table": name}, len(views.specs())) for name, views in generation.views.items()] if generation is not None else []
    ages = [({"table": name}, age) for name, age in feed.ages.items()]
    yield _metric("tablecast_rows", "gauge", "Rows of a table.", rows)
    yield _metric("tablecast_table_updates", "gauge", "Changes of a table since its generation began to be read.", updates)
    yield _metric("tablecast_table_age_seconds", "gauge", "Seconds since the newest record of a table was written.", ages)
    yield _metric("tablecast_views", "gauge", "Views of a table that are kept up to date.", views)
    yield _metric("tablecast_generation", "gauge", "The generation that is shown.", [({}, generation.number)] if generation else [])
    yield _metric("tablecast_generation_read", "gauge", "The generation that is read beside it.", _some(feed.reads))
    yield _metric("tablecast_generation_state", "gauge", "1 for the state that a generation is in.", _states(hub))
    yield _metric("tablecast_generation_transitions_total", "counter", "How often a generation came to a state.", _transitions(hub))
    yield _metric("tablecast_flips_total", "counter", "How often all tables changed over to another generation.", [({}, counters.flips)])
    yield _metric("tablecast_out_of_history_records", "gauge", "Records whose rows no later record can change any more.", _out_of_history(hub))
    yield _metric("tablecast_exports_total", "counter", "Exports that were begun.", [({}, counters.exports)])


def _viewers(hub: Hub) -> Iterable[str]:
    generation, counters = hub.generation, hub.counters
    viewports = [viewport for views in generation.views.values() for viewport in views.viewports()] if generation is not None else []
    refused = [({"code": code}, count) for code, count in sorted(counters.refused.items())]
    yield _metric("tablecast_viewers", "gauge", "Connections of viewers.", [({}, len(hub.audience))])
    yield _metric("tablecast_sessions_total", "counter", "Connections of viewers that were taken in.", [({}, counters.sessions)])
    yield _metric("tablecast_subscriptions", "gauge", "Open subscriptions.", [({}, sum(len(viewport.holders) for viewport in viewports))])
    yield _metric("tablecast_viewports", "gauge", "Different windows that are looked at.", [({}, len(viewports))])
    yield _metric("tablecast_messages_sent_total", "counter", "Messages sent to viewers, frames among them.", [({}, counters.messages)])
    yield _metric("tablecast_frames_sent_total", "counter", "Frames sent to viewers.", [({}, counters.frames)])
    yield _metric("tablecast_sent_bytes_total", "counter", "Bytes of messages sent to viewers.", [({}, counters.bytes)])
    yield _metric(
        "tablecast_outbox_skips_total", "counter", "States that a slow viewer never got: a newer one took their place.", [({}, counters.skips)]
    )
    yield _metric("tablecast_viewers_stalled_total", "counter", "Viewers closed because they took nothing.", [({}, counters.stalled)])
    yield _metric("tablecast_refusals_total", "counter", "Errors that viewers were answered with, by code.", refused)
    yield _histogram("tablecast_tick_seconds", "From a tick to the last frame of it.", counters.ticks)


def _feed(hub: Hub, feed: FeedFigures) -> Iterable[str]:
    states = [({"state": state}, state == hub.feed.state) for state in ("filling", "live", "stale")]
    yield _metric("tablecast_feed_state", "gauge", "1 for the state that the feed is in.", states)
    yield _metric("tablecast_feed_lag_records", "gauge", "Changelog records that are written but not read yet.", [({}, feed.lag)])
    yield _metric(
        "tablecast_feed_lag_seconds", "gauge", "The age of the newest record that was read, while there are newer ones.", [({}, feed.lag_seconds)]
    )
    yield _metric("tablecast_feed_records_total", "counter", "Changelog records that were read.", [({}, hub.counters.records)])
    rejected = _some(feed.rejected)
    yield _metric("tablecast_feed_rejected_records", "gauge", "Changelog records of this generation that are not of the format.", rejected)


def _some(value: int | None) -> list[Sample]:
    return [] if value is None else [({}, value)]


def _states(hub: Hub) -> list[Sample]:
    """Without those that are gone, of which there are more with every swap."""
    return [({"generation": str(status.generation), "state": status.state}, 1) for status in hub.statuses if status.state != "retired"]


def _transitions(hub: Hub) -> list[Sample]:
    """Of every state, so that a rate can be told of one that was not reached yet."""
    return [({"state": state}, hub.counters.transitions[state]) for state in get_args(State)]


def _out_of_history(hub: Hub) -> list[Sample]:
    return [({"generation": str(status.generation)}, status.out_of_history) for status in hub.statuses if status.state == "live"]


def _metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> str:
    return _head(name, kind, text) + "".join(_sample(name, labels, value) for labels, value in samples)


def _histogram(name: str, text: str, durations: Durations) -> str:
    lines, seen = [_head(name, "histogram", text)], 0
    for bound, count in zip((*map(str, durations.bounds), "+Inf"), durations.counts, strict=True):
        seen += count
        lines.append(_sample(f"{name}_bucket", {"le": bound}, seen))
    return "".join([*lines, _sample(f"{name}_sum", {}, durations.total), _sample(f"{name}_count", {}, seen)])


def _head(name: str, kind: str, text: str) -> str:
    return f"# HELP {name} {text}\n# TYPE {name} {kind}\n"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    told = ",".join(f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels.items())
    return f"{name}{'{' + told + '}' if told else ''} {_number(value)}\n"


def _number(value: float) -> str:
    return f"{value:d}" if isinstance(value, int) else repr(value)
