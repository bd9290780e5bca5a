"""What the server counts, as Prometheus reads it."""

from collections.abc import Iterable

from tablecast.server.hub import Hub

Sample = tuple[dict[str, str], int]


def exposition(hub: Hub, lag: int, rejected: int, reads: int | None) -> str:
    """The text format of Prometheus."""
    generation, counters = hub.generation, hub.counters
    tables = generation.tables() if generation is not None else []
    viewports = [viewport for views in generation.views.values() for viewport in views.viewports()] if generation is not None else []
    states = ("filling", "live", "stale")
    return "".join(
        [
            _metric("tablecast_rows", "gauge", "Rows of a table.", [({"table": table.name}, len(table)) for table in tables]),
            _metric("tablecast_generation", "gauge", "The generation that is shown.", [({}, generation.number)] if generation else []),
            _metric("tablecast_generation_read", "gauge", "The generation that is read beside it.", [({}, reads)] if reads is not None else []),
            _metric("tablecast_generation_state", "gauge", "1 for the state that a generation is in.", _states(hub)),
            _metric("tablecast_flips_total", "counter", "How often all tables changed over to another generation.", [({}, counters.flips)]),
            _metric("tablecast_out_of_history_records", "gauge", "Records whose rows no later record can change any more.", _out_of_history(hub)),
            _metric("tablecast_viewers", "gauge", "Connections of viewers.", [({}, len(hub.audience))]),
            _metric("tablecast_subscriptions", "gauge", "Open subscriptions.", [({}, sum(len(viewport.holders) for viewport in viewports))]),
            _metric("tablecast_viewports", "gauge", "Different windows that are looked at.", [({}, len(viewports))]),
            _metric("tablecast_feed_state", "gauge", "1 for the state that the feed is in.", [({"state": s}, s == hub.feed.state) for s in states]),
            _metric("tablecast_feed_lag_records", "gauge", "Changelog records that are written but not read yet.", [({}, lag)]),
            _metric("tablecast_feed_records_total", "counter", "Changelog records that were read.", [({}, counters.records)]),
            _metric("tablecast_feed_rejected_records", "gauge", "Changelog records of this generation that are not of the format.", [({}, rejected)]),
            _metric("tablecast_messages_sent_total", "counter", "Messages sent to viewers, frames among them.", [({}, counters.messages)]),
            _metric("tablecast_viewers_stalled_total", "counter", "Viewers closed because they took nothing.", [({}, counters.stalled)]),
        ]
    )


def _states(hub: Hub) -> list[Sample]:
    """Without those that are gone, of which there are more with every swap."""
    return [({"generation": str(status.generation), "state": status.state}, 1) for status in hub.statuses if status.state != "retired"]


def _out_of_history(hub: Hub) -> list[Sample]:
    return [({"generation": str(status.generation)}, status.out_of_history) for status in hub.statuses if status.state == "live"]


def _metric(name: str, kind: str, text: str, samples: Iterable[Sample]) -> str:
    head = f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    return head + "".join(f"{name}{_labels(labels)} {value:d}\n" for labels, value in samples)


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""
