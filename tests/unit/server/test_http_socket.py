"""Who has no key and does not even ask costs nothing for long."""

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from tablecast.server import connection
from tablecast.server.control import ControlDesk
from tablecast.server.http_socket import HEAD_BYTES
from tablecast.server.hub import Hub
from tablecast.server.turnstile import Turnstile

from .talking import KEY, Serving
from .test_viewer_socket import dial, hear, say

HEAD = f"GET /api/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"


@contextmanager
def wire_to(url: str) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with socket.create_connection((place.hostname or "", place.port or 0), 5) as wire:
        yield wire


def rest_of(wire: socket.socket) -> bytes:
    """All that comes until the server ends the connection."""
    heard = b""
    while data := wire.recv(65_536):
        heard += data
    return heard


class SlowTurnstile(Turnstile):
    """Lets everybody wait for a while."""

    def admit(self, enter: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(0.2, enter)


def test_who_waits_for_its_turn_is_served_then_and_stays(hub: Hub, serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for a head begins with the turn, and ends with the head: a viewer that is there is not closed by it."""
    monkeypatch.setattr(connection, "Turnstile", SlowTurnstile)
    with serving(hub, login_seconds=1, messages_per_second=1_000_000) as url:
        began = time.monotonic()
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert time.monotonic() - began >= 0.2
        with dial(url) as viewer:
            say(viewer, "login", key=KEY)
            assert [hear(viewer)["type"] for _ in range(2)] == ["welcome", "feed"]
            there, number = time.monotonic(), 0
            while time.monotonic() - there < 1.8:
                number += 1
                say(viewer, "ping", id=number)
                assert hear(viewer) == {"type": "pong", "id": number}


def refusal(wire: socket.socket) -> tuple[int, str]:
    """The status and the code of the answer that ends the connection. What it says of itself is said everywhere."""
    head, _, body = rest_of(wire).partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert b"x-content-type-options: nosniff" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


def test_who_says_nothing_is_closed(hub: Hub, serving: Serving) -> None:
    with serving(hub, login_seconds=0.1) as url, wire_to(url) as wire:
        assert rest_of(wire) == b""


@pytest.mark.parametrize("said", ["GET", HEAD], ids=["half a line", "half a head"])
def test_who_does_not_come_to_the_end_of_a_head_is_closed(hub: Hub, serving: Serving, said: str) -> None:
    with serving(hub, login_seconds=0.1) as url, wire_to(url) as wire:
        wire.sendall(said.encode())
        assert refusal(wire) == (408, "head_timeout")


def test_a_head_without_end_is_refused_by_its_size(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url, wire_to(url) as wire:
        wire.sendall(HEAD.encode() + b"X: " + b"x" * HEAD_BYTES)
        assert refusal(wire) == (431, "head_too_large")


def test_what_is_no_request_is_refused_and_does_not_fill_the_log(hub: Hub, serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    with serving(hub) as url, wire_to(url) as wire:
        wire.sendall(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
        assert refusal(wire) == (400, "bad_request")
    assert caplog.text == ""


@pytest.mark.parametrize("path", ["/api/control", "/", "/healthz"])
def test_a_body_that_does_not_come_is_not_waited_for(hub: Hub, serving: Serving, path: str) -> None:
    """Without a key the answer comes at once and ends the connection; where none is needed, what follows has its time."""
    with serving(hub, login_seconds=0.3) as url, wire_to(url) as wire:
        wire.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n".encode())
        answered = rest_of(wire)
        assert answered.startswith(b"HTTP/1.1 401 " if path == "/api/control" else b"HTTP/1.1 405 ")
        assert answered.count(b"HTTP/1.1") == 1


def test_a_body_that_is_waited_for_has_its_time(hub: Hub, serving: Serving) -> None:
    with serving(hub, desk=ControlDesk(hub, lambda message: "id"), login_seconds=0.2) as url, wire_to(url) as wire:
        wire.sendall((HEAD.replace("GET /api/tables", "POST /api/control") + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").encode())
        assert refusal(wire) == (408, "body_timeout")


def test_a_body_has_its_size(hub: Hub, serving: Serving) -> None:
    with serving(hub, message_bytes=2000) as url, wire_to(url) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 500_000)
        assert refusal(wire) == (413, "body_too_large")


def test_a_second_request_on_the_same_connection_has_its_own_time(hub: Hub, serving: Serving) -> None:
    with serving(hub, login_seconds=0.3) as url, wire_to(url) as wire:
        for _ in range(2):
            wire.sendall(HEAD.encode() + b"\r\n")
            assert wire.recv(15) == b"HTTP/1.1 200 OK"
            while not wire.recv(65_536).endswith(b"}"):
                pass
        wire.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert refusal(wire) == (408, "head_timeout")


def test_a_long_body_is_not_a_long_head(hub: Hub, serving: Serving) -> None:
    with serving(hub, message_bytes=10_000_000) as url, wire_to(url) as wire:
        body = b"x" * (3 * HEAD_BYTES)
        head = HEAD.replace("GET /api/tables", "POST /api/control") + f"Content-Length: {len(body)}\r\n\r\n"
        wire.sendall(head.encode() + body)
        assert wire.recv(13) == b"HTTP/1.1 503 "
