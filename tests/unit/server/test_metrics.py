"""The metrics, as the parser of Prometheus's own client reads them."""

import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tablecast.kafka.status import GenerationStatus, TableStatus
from tablecast.server.counters import Durations
from tablecast.server.hub import Hub
from tablecast.server.metrics import FeedFigures, exposition, feed_figures

from .talking import TalkTo, put, table_of

FIGURES = FeedFigures(7, 1.5, 2, 9, {"users": 0.25})


def read(text: str) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(families: dict[str, Any], family: str, sample: str | None = None, **labels: str) -> float:
    [found] = [one.value for one in families[family].samples if one.name == (sample or family) and one.labels == labels]
    return float(found)


def test_every_family_is_readable_and_described(hub: Hub) -> None:
    for families in (read(exposition(hub, FIGURES)), read(exposition(Hub(), FeedFigures()))):
        assert len(families) == 27
        assert all(family.documentation and family.type in ("gauge", "counter", "histogram") for family in families.values())


def test_what_viewers_cost_is_counted(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", sub=1, request=1, table="users", offset=0, size=3, sort=[{"column": "n"}])
    for version in range(1, 4):
        put(table_of(hub), 0, version, version)
        talk.session.outbox.mark(1)
    talk.hear()
    talk.say("open", sub=2, request=1, table="nope", offset=0, size=3)
    families = read(exposition(hub, FIGURES))
    assert value(families, "tablecast_rows", table="users") == 10
    assert value(families, "tablecast_table_updates", table="users") == 13
    assert value(families, "tablecast_views", table="users") == 1
    assert value(families, "tablecast_subscriptions") == 1
    assert value(families, "tablecast_frames_sent", "tablecast_frames_sent_total") == 2
    assert value(families, "tablecast_outbox_skips", "tablecast_outbox_skips_total") == 2
    assert value(families, "tablecast_refusals", "tablecast_refusals_total", code="unknown_table") == 1


@dataclass
class PaperReader:
    lags: dict[str, int]
    when: dict[str, float]

    def written(self) -> dict[str, float]:
        return self.when


def filling_of(reader: PaperReader, number: int = 3) -> Any:
    tables = {name: TableStatus(f"{name}-log", ()) for name in ("busy", "stuck", "empty")}
    status = GenerationStatus(number, "live", {}, tables, {}, "f", "2026-01-01T00:00:00Z")
    return SimpleNamespace(reader=reader, follower=SimpleNamespace(status=status, rejected=4), number=number)


def test_a_busy_changelog_does_not_hide_one_that_is_stuck() -> None:
    now = time.time()
    reader = PaperReader({"busy-log": 3, "stuck-log": 2, "empty-log": 0}, {"busy-log": now - 1, "stuck-log": now - 60})
    figures = feed_figures(filling_of(reader), filling_of(reader, 7))
    assert (figures.lag, figures.rejected, figures.reads) == (5, 4, 7)
    assert 60 <= figures.lag_seconds < 65
    assert {name: round(age) for name, age in figures.ages.items()} == {"busy": 1, "stuck": 60}


def test_what_has_read_everything_is_not_behind_however_old_it_is() -> None:
    reader = PaperReader({"busy-log": 0, "stuck-log": 0}, {"busy-log": time.time() - 900})
    assert (feed_figures(filling_of(reader), None).lag_seconds, feed_figures(None, None)) == (0.0, FeedFigures())


def test_how_the_feed_goes_is_told(hub: Hub) -> None:
    families = read(exposition(hub, FIGURES))
    assert value(families, "tablecast_feed_lag_records") == 7
    assert value(families, "tablecast_feed_lag_seconds") == 1.5
    assert value(families, "tablecast_table_age_seconds", table="users") == 0.25
    assert value(families, "tablecast_generation_read") == 9
    assert value(families, "tablecast_feed_state", state="live") == 1
    assert value(families, "tablecast_feed_state", state="stale") == 0


def test_the_states_that_generations_came_to_are_counted(hub: Hub) -> None:
    hub.counters.transitions["retired"] += 2
    families = read(exposition(hub, FIGURES))
    counted = [value(families, "tablecast_generation_transitions", "tablecast_generation_transitions_total", state=s) for s in ("retired", "failed")]
    assert counted == [2, 0]


def test_ticks_are_a_histogram(hub: Hub) -> None:
    for seconds in (0.0001, 0.003, 5.0):
        hub.counters.ticks.take(seconds)
    families = read(exposition(hub, FIGURES))
    assert value(families, "tablecast_tick_seconds", "tablecast_tick_seconds_count") == 3
    assert value(families, "tablecast_tick_seconds", "tablecast_tick_seconds_bucket", le="0.005") == 2
    assert value(families, "tablecast_tick_seconds", "tablecast_tick_seconds_bucket", le="+Inf") == 3
    assert value(families, "tablecast_tick_seconds", "tablecast_tick_seconds_sum") == 5.0031


def test_a_duration_on_a_bound_is_within_it() -> None:
    durations = Durations((1.0, 2.0))
    for seconds in (1.0, 2.0, 2.1):
        durations.take(seconds)
    assert durations.counts == [1, 1, 1]


def test_a_label_is_one_label_whatever_stands_in_it(hub: Hub) -> None:
    hostile = 'x"} 1\ntablecast_rows{table="y\\'
    hub.counters.refused[hostile] += 2
    families = read(exposition(hub, FeedFigures()))
    assert value(families, "tablecast_refusals", "tablecast_refusals_total", code=hostile) == 2
