"""H2, H4, H5 and V7 at the server, on a real broker: generations come, go live, fail and go, and viewers keep looking."""

import signal
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import httpx
import psutil
import pytest
from confluent_kafka import TopicPartition

from tablecast.client import Viewer, connect
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.names import control_topic, servers_topic
from tablecast.kafka.status import ColumnStatus, ServerStatus, State, decode_server
from tablecast.wire.messages import Error, Frame, Opened
from tests.integration.by_hand import BEARER, COLUMNS, KEY, PATIENCE, Pipeline, Serving, StartServer, names, wait_for, wait_until_ready

MIB = 1 << 20
WIDER = (*COLUMNS, ColumnStatus("extra", "string"))
TABLES = ("users_ui", "account")


def until(condition: Callable[[], Any]) -> Any:
    """The first thing that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.01)
    return found


def status_of(url: str) -> dict[str, Any]:
    status: dict[str, Any] = httpx.get(f"{url}/api/status", headers=BEARER).json()
    return status


def columns_of(generation: int) -> tuple[ColumnStatus, ...]:
    return WIDER if generation % 2 else COLUMNS


class Watcher:
    """Three windows of one viewer, and every message that came for them."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.plain = viewer.open("users_ui", size=10)
        self.sorted = viewer.open("users_ui", size=10, sort=[("n", True)])
        self.account = viewer.open("account", size=10)
        self.frames: list[Frame] = []
        self.columns: dict[int, tuple[str, ...]] = {}

    def take(self) -> None:
        message = self.viewer.receive(PATIENCE)
        assert not isinstance(message, Error), message
        if isinstance(message, Opened):
            self.columns[message.sub] = tuple(column.name for column in message.columns)
        elif isinstance(message, Frame):
            self.frames.append(message)
            self._check(message)

    def await_generation(self, generation: int) -> None:
        while {frame.sub for frame in self.frames if frame.generation == generation} != {1, 2, 3}:
            self.take()

    def await_tick(self, name: str) -> None:
        while not any(row["name"] == name for _, row in self.plain.model.window.rows):  # type: ignore[union-attr]
            self.take()

    def _check(self, frame: Frame) -> None:
        """Rows of one generation, with its columns, and never none."""
        assert frame.total > 0
        expected = tuple(column.name for column in columns_of(frame.generation))
        for row in frame.rows.values():
            assert row["name"].split()[0] == f"g{frame.generation}"
            assert tuple(row) == expected
        assert self.columns[frame.sub] == expected


def test_twenty_swaps_and_a_viewer_sees_one_frame_each(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.tables = TABLES
    pipeline.begin(1, rows=20, columns=columns_of(1), partitions=1)
    pipeline.promote(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        watcher = Watcher(viewer)
        watcher.await_generation(1)
        for generation in range(2, 22):
            _swap(pipeline, watcher, generation)
        assert "tablecast_flips_total 21" in httpx.get(f"{url}/metrics", headers=BEARER).text
        assert 'tablecast_generation_state{generation="21",state="live"} 1' in httpx.get(f"{url}/metrics", headers=BEARER).text
    seen = Counter((frame.sub, frame.generation) for frame in watcher.frames)
    for generation in range(2, 21):
        assert (seen[1, generation], seen[2, generation], seen[3, generation]) == (3, 1, 1), "its flip, and the two ticks in the first window"
    assert all(before.generation <= after.generation for before, after in pairwise(watcher.frames)), "all windows change over at one instant"


def _swap(pipeline: Pipeline, watcher: Watcher, generation: int) -> None:
    """Ticks go on before and after; what is still written to the old generation afterwards is shown to nobody."""
    old = generation - 1
    pipeline.begin(generation, rows=10 + generation, columns=columns_of(generation), partitions=1)
    pipeline.write(old, (0, f"g{old} ticks while another is filled"), version=2)
    watcher.await_tick(f"g{old} ticks while another is filled")
    pipeline.write(generation, (3, f"g{generation} changed before it was shown"), version=1)
    pipeline.promote(generation)
    watcher.await_generation(generation)
    assert set(names(watcher.plain.model.window)) == {f"g{generation}", f"g{generation} changed before it was shown"}  # type: ignore[arg-type]
    window = watcher.sorted.model.window
    assert window is not None
    assert window.total == 10 + generation
    pipeline.write(old, (1, f"g{old} too late"), version=2)
    pipeline.write(generation, (0, f"g{generation} ticks"), version=1)
    watcher.await_tick(f"g{generation} ticks")


def test_it_flips_only_when_it_has_read_to_the_ends(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=3, partitions=1)
    pipeline.promote(1)
    with serving(pipeline) as url, connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=10)
        assert table.wait(PATIENCE).generation == 1
        pipeline.begin(2, rows=3, partitions=1)
        until(lambda: status_of(url)["reads"] == 2)
        pipeline.go_live(2, {pipeline.changelog(2): 4})
        pipeline.write(1, (0, "still here"), version=1)
        assert wait_for(table, lambda window: "still here" in names(window)).generation == 1
        pipeline.write(2, (3, "the last one"))
        window = wait_for(table, lambda window: window.generation == 2)
        assert (window.total, names(window)[-1]) == (4, "the last one")


@pytest.mark.parametrize("state", ["failed", "retired"])
def test_a_generation_that_fails_is_dropped(pipeline: Pipeline, start_server: StartServer, state: State) -> None:
    pipeline.begin(1, rows=3, partitions=1)
    pipeline.promote(1)
    process, url = start_server(pipeline)
    wait_until_ready(url)
    observed = psutil.Process(process.pid)
    with connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=10)
        assert table.wait(PATIENCE).generation == 1
        until(lambda: status_of(url)["reads"] is None)
        threads = observed.num_threads()
        pipeline.begin(2, rows=30_000, partitions=1)
        until(lambda: status_of(url)["reads"] == 2)
        until(lambda: observed.num_threads() > threads)
        pipeline.announce(2, state)
        until(lambda: status_of(url)["reads"] is None)
        until(lambda: observed.num_threads() <= threads)
        pipeline.begin(3, rows=5, partitions=1)
        pipeline.promote(3)
        assert wait_for(table, lambda window: window.generation != 1).generation == 3


def test_after_fifty_swaps_nothing_is_more_than_after_five(pipeline: Pipeline, start_server: StartServer) -> None:
    pipeline.begin(1, rows=5000, partitions=1)
    pipeline.promote(1)
    process, url = start_server(pipeline)
    observed = psutil.Process(process.pid)
    with connect(url, KEY) as viewer:
        table = viewer.open("users_ui", size=10, sort=[("n", True)])
        assert table.wait(PATIENCE).generation == 1
        after: dict[int, tuple[int, int, int]] = {}
        for generation in range(2, 52):
            pipeline.begin(generation, rows=5000, partitions=1)
            pipeline.promote(generation)
            wait_for(table, lambda window, number=generation: window.generation == number)  # type: ignore[misc]
            pipeline.retire(generation - 1)
            if generation in (6, 51):
                after[generation] = _settled(observed)
    threads, files, memory = after[51]
    assert threads <= after[6][0]
    assert files <= after[6][1]
    assert memory < after[6][2] + 10 * MIB


def _settled(process: psutil.Process) -> tuple[int, int, int]:
    """Threads, files and bytes once they do not change any more."""
    seen = [(0, 0)]

    def settled() -> bool:
        time.sleep(0.3)
        seen.append((process.num_threads(), process.num_fds()))
        return seen[-4:] == [seen[-1]] * 4

    until(settled)
    return (*seen[-1], process.memory_info().rss)


@pytest.mark.parametrize("moment", ["building", "ready", "live"])
def test_a_server_that_is_killed_during_a_swap_comes_back_whole(pipeline: Pipeline, start_server: StartServer, moment: State) -> None:
    pipeline.tables = TABLES
    pipeline.begin(1, rows=50, partitions=1)
    pipeline.promote(1)
    process, url = start_server(pipeline)
    wait_until_ready(url)
    pipeline.begin(2, rows=5000, partitions=1)
    ends = pipeline.ends(2)
    if moment != "building":
        pipeline.announce(2, moment, ends)
    process.kill()
    process.wait()
    _, url = start_server(pipeline)
    wait_until_ready(url)
    with connect(url, KEY) as viewer:
        users, account = (viewer.open(table, size=10) for table in TABLES)
        expected = (2, 5000) if moment == "live" else (1, 50)
        assert [(window.generation, window.total) for window in (users.wait(PATIENCE), account.wait(PATIENCE))] == [expected] * 2
        pipeline.promote(2)
        for table in (users, account) if moment != "live" else ():
            window = wait_for(table, lambda window: window.generation == 2)
            assert (window.total, set(names(window))) == (5000, {"g2"})


def test_it_says_what_it_shows_and_takes_its_word_back(pipeline: Pipeline, start_server: StartServer) -> None:
    pipeline.begin(1, rows=3, partitions=1)
    pipeline.promote(1)
    process, url = start_server(pipeline)
    wait_until_ready(url)
    topic = servers_topic(pipeline.prefix)
    pipeline.topics.ensure(topic, 1, {"cleanup.policy": "compact"})
    said: list[ServerStatus | None] = []
    consumer = make_consumer(pipeline.kafka, {"group.id": "said", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])

    def hears(condition: Callable[[ServerStatus | None], bool]) -> bool:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            value = message.value()
            said.append(None if value is None else decode_server(value))
        return bool(said) and condition(said[-1])

    try:
        until(lambda: hears(lambda word: word is not None and word.shows == 1))
        pipeline.begin(2, rows=3, partitions=1)
        until(lambda: hears(lambda word: word is not None and (word.shows, word.reads) == (1, 2)))
        pipeline.promote(2)
        until(lambda: hears(lambda word: word is not None and (word.shows, word.reads) == (2, None)))
        assert until(lambda: status_of(url)["servers"])[0]["shows"] == 2
        process.send_signal(signal.SIGTERM)
        until(lambda: hears(lambda word: word is None))
        assert len({word.server for word in said if word is not None}) == 1
    finally:
        consumer.close()


def test_a_control_message_goes_to_the_control_topic(pipeline: Pipeline, serving: Serving) -> None:
    pipeline.begin(1, rows=3, partitions=1)
    pipeline.promote(1)
    with serving(pipeline) as url:
        wait_until_ready(url)
        message = {"usersTopic": "other", "accountsTopic": "a"}
        answer = httpx.post(f"{url}/api/control", headers=BEARER, json=message, timeout=30)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "topic_missing")
        topic = control_topic(pipeline.prefix)
        pipeline.topics.ensure(topic, 1)
        answer = httpx.post(f"{url}/api/control", headers=BEARER, json=message, timeout=30)
        assert answer.status_code == 202
        consumer = make_consumer(pipeline.kafka, {"group.id": "control", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, 0, 0)])
        try:
            sent = until(lambda: consumer.poll(0.1))
            assert (sent.headers(), httpx.Response(200, content=sent.value()).json()) == ([("tablecast-id", answer.json()["id"].encode())], message)
        finally:
            consumer.close()
