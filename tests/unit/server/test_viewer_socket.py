"""Real sockets, without Kafka: limits, back-pressure, and the end of a connection."""

import json
import socket
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.wire_client import masked
from tablecast.server.hub import Hub
from tablecast.settings import ServerSettings

from .talking import KEY, Serving, generation_of


def dial(url: str, **options: Any) -> ClientConnection:
    address = url.replace("http", "ws") + "/ws"
    socket: ClientConnection = connect(address, subprotocols=[Subprotocol("tablecast.v1")], compression=None, **options)
    return socket


def say(socket: ClientConnection, type: str, **fields: Any) -> None:
    socket.send(json.dumps({"type": type, **fields}))


def hear(socket: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(socket.recv(5))
    return message


def end_of(socket: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(5)
    return closed.value.rcvd.code if closed.value.rcvd else None


def eventually(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_whole_conversation(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url, dial(url) as viewer:
        assert viewer.subprotocol == "tablecast.v1"
        say(viewer, "login", key=KEY)
        assert [hear(viewer)["type"] for _ in range(2)] == ["welcome", "feed"]
        say(viewer, "open", sub=1, request=1, table="users", offset=0, size=2)
        assert [hear(viewer)["type"] for _ in range(2)] == ["opened", "frame"]
        say(viewer, "close", sub=1)
        assert hear(viewer) == {"type": "closed", "sub": 1}


@pytest.mark.parametrize(
    ("message", "code", "close_code"),
    [
        (json.dumps({"type": "login", "key": "wrong"}), "wrong_key", 4401),
        ('{"type":"ping","id":1}', "login_required", 4401),
        ("hello", "bad_message", 4400),
        (b"\x00\x01", "bad_message", 4400),
        ("x" * 10_000_000, "message_too_large", 4413),
        (["x" * 50_000, "x" * 50_000], "message_too_large", 4413),
    ],
    ids=["wrong key", "no key", "not JSON", "binary", "10 MB", "fragments over the limit"],
)
def test_what_ends_a_connection_is_said_first(hub: Hub, serving: Serving, message: str | bytes | list[str], code: str, close_code: int) -> None:
    with serving(hub) as url, dial(url) as viewer:
        # The end may come while the last fragment is still to be sent.
        with suppress(ConnectionClosed):
            viewer.send(message)
        assert hear(viewer)["code"] == code
        assert end_of(viewer) == close_code
        eventually(lambda: not hub.audience)
        assert httpx.get(f"{url}/healthz").status_code == 200


def test_text_that_is_not_utf_8_is_answered(hub: Hub, serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    with serving(hub) as url, dial(url) as viewer:
        viewer.send([b'{"type":', b"\xff\xfe"], text=True)
        assert hear(viewer)["code"] == "bad_message"
        assert end_of(viewer) == 4400
    assert caplog.text == ""


def test_a_thousand_messages_at_once_are_answered_one_by_one(hub: Hub, serving: Serving) -> None:
    """They fill more answers than are kept, and more time than a viewer has at once: reading waits, and nothing is lost."""
    with serving(hub, messages_per_second=1_000_000) as url, dial(url) as viewer:
        say(viewer, "login", key=KEY)
        assert [hear(viewer)["type"] for _ in range(2)] == ["welcome", "feed"]
        viewer.socket.sendall(b"".join(masked(1, b'{"type":"ping","id":%d}' % number) for number in range(1000)))
        assert [hear(viewer)["id"] for _ in range(1000)] == list(range(1000))
        assert viewer.ping().wait(5)


def test_there_is_no_socket_elsewhere(hub: Hub, serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    with serving(hub) as url, pytest.raises(InvalidStatus, match="403"), dial(f"{url}/elsewhere"):
        pass
    assert caplog.text == ""


def test_no_login_in_time(hub: Hub, serving: Serving) -> None:
    with serving(hub, login_seconds=0.1) as url, dial(url) as viewer:
        assert hear(viewer)["code"] == "login_timeout"
        assert end_of(viewer) == 4408


def test_no_more_viewers_than_allowed(hub: Hub, serving: Serving) -> None:
    with serving(hub, sessions=1) as url, dial(url) as first:
        say(first, "login", key=KEY)
        hear(first)
        with dial(url) as second:
            assert hear(second)["code"] == "too_many_sessions"
            assert end_of(second) == 4429
        assert hear(first)["type"] == "feed"


def test_the_server_says_goodbye(hub: Hub, serving: Serving) -> None:
    with ExitStack() as viewers:
        with serving(hub) as url:
            viewer = viewers.enter_context(dial(url))
            say(viewer, "login", key=KEY)
            hear(viewer)
            stopped = time.monotonic()
        assert time.monotonic() - stopped < 2
        assert hear(viewer)["type"] == "feed"
        assert end_of(viewer) == 1001


def test_who_never_reads_is_cut_off_and_hurts_nobody(serving: Serving) -> None:
    hub = Hub()
    hub.flip(generation_of(1, 4000))
    small: dict[str, Any] = {"max_queue": 1, "max_size": None, "close_timeout": 0.2}
    with serving(hub, stalled_seconds=0.5) as url, dial(url, **small) as stalled, dial(url) as reader:
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for viewer in (stalled, reader):
            say(viewer, "login", key=KEY)
        for sub in range(1, 60):
            say(stalled, "open", sub=sub, request=1, table="users", offset=sub, size=3900)
        assert [hear(reader)["type"] for _ in range(2)] == ["welcome", "feed"]
        say(reader, "open", sub=1, request=1, table="users", offset=0, size=1)
        assert [hear(reader)["type"] for _ in range(2)] == ["opened", "frame"]
        eventually(lambda: hub.counters.stalled == 1)
        eventually(lambda: len(hub.audience) == 1)
        say(reader, "ping", id=1)
        assert hear(reader) == {"type": "pong", "id": 1}
        assert len(list(hub.current().find("users").viewports())) == 1


def test_what_is_kept_for_one_who_never_reads_is_bounded(serving: Serving) -> None:
    """Hundreds of windows of a hundred kilobytes are asked for, under as many numbers as there may be; those that cannot be sent are not kept."""
    hub, subs, asked = Hub(), range(1, ServerSettings().subscriptions + 1), 10
    hub.flip(generation_of(1, 4000))
    with serving(hub, messages_per_second=1_000_000) as url, dial(url, max_queue=1, max_size=None, close_timeout=0.2) as viewer:
        viewer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        say(viewer, "login", key=KEY)
        for sub in subs:
            say(viewer, "open", sub=sub, request=1, table="users", offset=sub, size=2000)
        eventually(lambda: hub.counters.frames >= 1 and len(list(hub.current().find("users").viewports())) == len(subs))
        tracemalloc.start()
        for request in range(2, asked):
            for sub in subs:
                say(viewer, "move", sub=sub, request=request, offset=len(subs) * request + sub, size=2000)
        eventually(lambda: hub.counters.skips > len(subs) * asked / 2)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert hub.counters.bytes < 3_000_000
        assert kept < 8_000_000, "all of them together are sixty megabytes"
        done: dict[int, int] = {}
        while len(done) < len(subs):
            message = hear(viewer)
            if message["type"] == "frame" and message["request"] == asked - 1:
                done[message["sub"]] = len(message["ids"])
        assert set(done.values()) == {2000}
