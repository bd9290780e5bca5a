"""Who has no key and does not even ask costs nothing for long."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from tablecast.server import connection
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


@pytest.mark.parametrize("said", ["", "GET", HEAD], ids=["nothing", "half a line", "half a head"])
def test_who_does_not_come_to_the_end_of_a_head_is_closed(hub: Hub, serving: Serving, said: str) -> None:
    with serving(hub, login_seconds=0.1) as url, wire_to(url) as wire:
        wire.sendall(said.encode())
        assert rest_of(wire) == b""


def test_a_head_without_end_is_refused_by_its_size(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url, wire_to(url) as wire:
        wire.sendall(HEAD.encode() + b"X: " + b"x" * HEAD_BYTES)
        assert rest_of(wire).startswith(b"HTTP/1.1 400 ")


def test_a_second_request_on_the_same_connection_has_its_own_time(hub: Hub, serving: Serving) -> None:
    with serving(hub, login_seconds=0.3) as url, wire_to(url) as wire:
        for _ in range(2):
            wire.sendall(HEAD.encode() + b"\r\n")
            assert wire.recv(15) == b"HTTP/1.1 200 OK"
            while not wire.recv(65_536).endswith(b"}"):
                pass
        wire.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert rest_of(wire) == b""


def test_a_long_body_is_not_a_long_head(hub: Hub, serving: Serving) -> None:
    with serving(hub, message_bytes=10_000_000) as url, wire_to(url) as wire:
        body = b"x" * (3 * HEAD_BYTES)
        head = HEAD.replace("GET /api/tables", "POST /api/control") + f"Content-Length: {len(body)}\r\n\r\n"
        wire.sendall(head.encode() + body)
        assert wire.recv(13) == b"HTTP/1.1 503 "
