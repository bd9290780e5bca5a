"""The table server on a real broker: T6, T7, V1, V3, V6, H4 and what becomes of it when Kafka is troubled."""

import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from confluent_kafka import Message, TopicPartition

from tablecast.client import connect
from tablecast.errors import ServerRefused, ServerUnreachable
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.names import status_topic
from tablecast.kafka.status import ColumnStatus
from tablecast.server.reader import Reading, TopicReader
from tablecast.server.topics import TopicFinder
from tablecast.settings import KafkaSettings, Settings
from tablecast.wire.messages import Frame
from tests.integration.by_hand import BEARER, KEY, PATIENCE, Pipeline, Serving, StartServer, names, wait_for, wait_for_feed, wait_until_ready


def test_rows_of_the_changelog_are_shown_and_follow(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=50)
    pipeline.go_live(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        table = viewer.open("user", offset=1000, size=5)
        window = table.wait(PATIENCE)
        assert (window.generation, window.total, window.offset) == (1, 50, 45)
        assert [row["n"] for _, row in window.rows] == ["45", "46", "47", "48", "49"]
        pipeline.write(1, (49, "changed"), version=2)
        assert names(wait_for(table, lambda window: "changed" in names(window)))[-1] == "changed"
        pipeline.write(1, (49, "older, written again"), version=1)
        pipeline.write(1, (50, "new"))
        window = wait_for(table, lambda window: window.total == 51)
        assert names(window)[-2:] == ["changed", "new"]
        assert wait_for_feed(viewer, "live").message is None


def test_the_order_is_the_same_on_every_server_and_after_a_restart(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=300)
    pipeline.go_live(1)
    pipeline.write(1, *((index, "again") for index in range(0, 300, 7)), version=5)
    seen = []
    for _ in range(2):
        with serving(pipeline) as one, serving(pipeline) as other:
            for url in (one, other):
                wait_until_ready(url)
                seen.append(httpx.get(f"{url}/api/tables/users_ui/rows?size=300", headers=BEARER).json())
    assert seen[0]["total"] == 300
    assert [row["n"] for row in seen[0]["rows"]] == [str(index) for index in range(300)]
    assert all(answer == seen[0] for answer in seen)


def test_before_anything_is_live_the_server_says_so_and_answers_later(pipeline: Pipeline, serving: Serving) -> None:
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert httpx.get(f"{url}/readyz").status_code == 503
        table = viewer.open("users_ui", size=5)
        assert wait_for_feed(viewer, "filling").message
        pipeline.begin(1, rows=3)
        assert httpx.get(f"{url}/readyz").status_code == 503
        pipeline.go_live(1)
        assert table.wait(PATIENCE).total == 3
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert wait_for_feed(viewer, "live").message is None
        status = httpx.get(f"{url}/api/status", headers=BEARER).json()
        assert (status["generation"], status["generations"][0]["state"]) == (1, "live")


def test_an_operator_can_choose_from_the_topics_of_the_source_kafka(pipeline: Pipeline, serving: Serving, create_topic: Callable[..., str]) -> None:
    pipeline.begin(1, rows=1)
    other = create_topic("other", 2)
    with serving(pipeline) as url:
        listed = {topic["name"]: topic["partitions"] for topic in httpx.get(f"{url}/api/topics", headers=BEARER).json()["topics"]}
    assert listed[other] == 2
    assert not [name for name in listed if name.startswith((pipeline.prefix, "__"))]


class Listener:
    """What a reader says of its lag, once the broker has told it how far the topic goes."""

    def __init__(self) -> None:
        self.reader: TopicReader | None = None
        self.lags: list[dict[str, int]] = []

    def turn(self, reading: Reading) -> bool:
        assert self.reader is not None
        [topic] = self.reader.names
        if self.reader._consumer.get_watermark_offsets(TopicPartition(topic, 0), cached=True)[1] > 0:
            self.lags.append(self.reader.lags)
        return False

    def records(self, messages: list[Message]) -> None:
        pass

    def waits(self, missing: Sequence[str]) -> None:
        pass

    def lost(self, reason: str) -> None:
        raise AssertionError(reason)


def test_records_that_were_deleted_before_a_server_began_are_no_lag(
    broker: EmbeddedBroker, create_topic: Callable[..., str], produce: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablecast.server.reader._LAG_SECONDS", 0.0)
    topic = create_topic("deleted")
    produce(topic, ["old"] * 5)
    Topics(broker.kafka, "test").delete_records(topic, {0: 5})
    listener = Listener()
    listener.reader = reader = TopicReader(broker.kafka, TopicFinder(broker.kafka), [topic], listener)
    reader.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while len(listener.lags) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert listener.lags[2] == {topic: 0}
    finally:
        reader.stop()
        reader.join(PATIENCE)


def test_a_view_has_at_most_as_many_groups_as_the_setting_says(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=4)
    pipeline.go_live(1)
    with serving(pipeline, view_groups=3) as url:
        wait_until_ready(url)
        for by, status in (("name", 200), ("n", 400)):
            answer = httpx.get(f"{url}/api/tables/users_ui/rows", params={"group": f'{{"by":["{by}"]}}'}, headers=BEARER)
            assert answer.status_code == status
        assert answer.json()["error"]["code"] == "too_many_groups"


def test_wrong_key_and_unknown_table(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=1)
    pipeline.go_live(1)
    with serving(pipeline) as url:
        wait_until_ready(url)
        with pytest.raises(ServerRefused, match="not the one of this server"):
            connect(url, "wrong")
        assert httpx.get(f"{url}/api/tables").status_code == 401
        with connect(url, KEY) as viewer, pytest.raises(ServerRefused, match="no table 'userz'"):
            viewer.open("userz").wait(PATIENCE)


def test_a_flip_has_no_empty_frame_and_no_gap(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=20)
    pipeline.go_live(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        plain = viewer.open("users_ui", size=10)
        sorted_ = viewer.open("users_ui", size=10, sort=[("n", True)])
        assert plain.wait(PATIENCE).total == sorted_.wait(PATIENCE).total == 20
        pipeline.begin(2, rows=500, columns=(ColumnStatus("name", "string"), ColumnStatus("n", "string")))
        pipeline.write(1, (0, "ticks on"), version=1)
        wait_for(plain, lambda window: names(window)[0] == "ticks on")
        pipeline.go_live(2)
        frames: list[Frame] = []
        while len({frame.sub for frame in frames if frame.generation == 2}) < 2:
            message = viewer.receive(PATIENCE)
            if isinstance(message, Frame):
                frames.append(message)
        assert all(frame.rows for frame in frames if frame.generation == 2)
        assert all(frame.total in (20, 500) for frame in frames)
        window = plain.model.window
        assert window is not None
        assert (window.generation, window.total, set(names(window))) == (2, 500, {"g2"})
        assert [column.type for column in plain.columns] == ["string", "string"]
        window = sorted_.model.window
        assert window is not None
        assert [row["n"] for _, row in window.rows][:3] == ["99", "98", "97"]
        pipeline.write(2, (0, "new ticks"), version=1)
        wait_for(plain, lambda window: names(window)[0] == "new ticks")


@pytest.mark.parametrize("rows", [3, 60], ids=["shorter", "longer"])
def test_a_changelog_that_is_created_again_is_read_again(pipeline: Pipeline, serving: Serving, rows: int) -> None:
    pipeline.begin(1, rows=30, partitions=1)
    pipeline.go_live(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=100)
        assert table.wait(PATIENCE).total == 30
        wait_for_feed(viewer, "live")
        pipeline.topics.delete([pipeline.changelog(1)])
        assert "deleted" in (wait_for_feed(viewer, "stale").message or "")
        assert httpx.get(f"{url}/api/tables/users_ui/rows", headers=BEARER).json()["total"] == 30
        pipeline.begin(1, rows=rows, partitions=1)
        pipeline.go_live(1)
        assert set(names(wait_for(table, lambda window: window.total == rows))) == {"g1"}
        wait_for_feed(viewer, "live")
        pipeline.write(1, (0, "still followed"), version=1)
        wait_for(table, lambda window: names(window)[0] == "still followed")


def test_records_of_another_format_hurt_nobody(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=2, partitions=1)
    pipeline.producer.produce(pipeline.changelog(1), b"oops", b"bad", headers=[("version", b"1:0:1")])
    pipeline.producer.produce(pipeline.changelog(1), b"{}", None)
    pipeline.producer.produce(status_topic(pipeline.prefix), b"oops", b"7")
    pipeline.go_live(1)
    with serving(pipeline) as url:
        wait_until_ready(url)
        assert httpx.get(f"{url}/api/tables", headers=BEARER).json()["tables"][0]["rows"] == 2
        assert "tablecast_feed_rejected_records 2" in httpx.get(f"{url}/metrics", headers=BEARER).text


def test_a_broker_that_stops_makes_the_rows_stale_until_it_is_back(
    jars_dir: Any, tmp_path: Any, make_pipeline: Callable[[KafkaSettings, str], Pipeline], serving: Serving
) -> None:
    from tablecast.jars import Jars  # noqa: PLC0415 - only this test starts a broker of its own

    settings = Settings().replaced("pipeline", state_dir=tmp_path, jars=jars_dir)
    with EmbeddedBroker(settings, Jars(jars_dir)) as first:
        pipeline = make_pipeline(first.kafka, "stopping")
        pipeline.begin(1, rows=5)
        pipeline.go_live(1)
        server = serving(pipeline)
        url = server.__enter__()
        viewer = connect(url, KEY)
        table = viewer.open("users_ui", size=10)
        assert table.wait(PATIENCE).total == 5
        wait_for_feed(viewer, "live")
    try:
        assert f"The changelog Kafka at {first.servers} does not answer: " in (wait_for_feed(viewer, "stale").message or "")
        assert httpx.get(f"{url}/api/tables/users_ui/rows", headers=BEARER).json()["total"] == 5
        with EmbeddedBroker(settings, Jars(jars_dir)) as second:
            assert second.servers == first.servers
            wait_for_feed(viewer, "live")
            pipeline.write(1, (5, "after the pause"))
            assert names(wait_for(table, lambda window: window.total == 6))[-1] == "after the pause"
    finally:
        viewer.close()
        server.__exit__(None, None, None)


def test_a_server_ends_within_two_seconds_of_a_signal(pipeline: Pipeline, start_server: StartServer) -> None:
    pipeline.begin(1, rows=5)
    pipeline.go_live(1)
    process, url = start_server(pipeline)
    with connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=10)
        assert table.wait(PATIENCE).total == 5
        process.send_signal(signal.SIGTERM)
        asked = time.monotonic()
        with pytest.raises(ServerUnreachable, match="1001"):
            table.wait(PATIENCE)
        assert process.wait(PATIENCE) == 0
        assert time.monotonic() - asked < 2


def test_from_the_changelog_to_a_frame_in_a_few_milliseconds(pipeline: Pipeline, serving: Serving) -> None:
    """The measure is bench/; this only catches a wait that should not be there (a poll interval, a batch, Nagle)."""
    pipeline.begin(1, rows=1)
    pipeline.go_live(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=10)
        table.wait(PATIENCE)
        took = []
        for round in range(1, 31):
            pipeline.write(1, (0, f"round {round}"), version=round)
            written = time.perf_counter()
            wait_for(table, lambda window, name=f"round {round}": names(window) == [name])  # type: ignore[misc]
            took.append(time.perf_counter() - written)
    assert sorted(took)[len(took) // 2] < 0.05


def test_rows_are_not_called_live_unless_the_pipeline_is_heard(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.alive = False
    pipeline.begin(1, rows=2)
    pipeline.go_live(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        table = viewer.open("users_ui")
        wait_for(table, lambda window: len(window.rows) == 2)
        assert "not been heard of yet" in str(wait_for_feed(viewer, "stale").message)
        pipeline.alive = True
        wait_for_feed(viewer, "live")
        pipeline.failing = "a disk is full"
        assert "a disk is full" in str(wait_for_feed(viewer, "stale").message)
        pipeline.failing = None
        wait_for_feed(viewer, "live")
        pipeline.alive = False
        assert "not been heard of for" in str(wait_for_feed(viewer, "stale").message)
