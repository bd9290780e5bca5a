"""A real server that speaks TLS: everything works through it, and a new certificate is taken without dropping anybody."""

import shutil
import socket
import ssl
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tablecast.errors import ConfigurationError
from tablecast.server import fresh_files
from tablecast.server.hub import Hub
from tablecast.server.tls import Certificate
from tests.certificates import Authority, name_shown

from .talking import KEY, Serving, generation_of
from .test_viewer_socket import dial, end_of, eventually, hear, say

LATER = 5.0


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@pytest.fixture
def certificate(authority: Authority, tmp_path: Path) -> Certificate:
    issued = authority.issue("first")
    return Certificate(Path(shutil.copy(issued.chain, tmp_path / "chain.pem")), Path(shutil.copy(issued.key, tmp_path / "key.pem")))


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_files, "LOOK_SECONDS", 0.02)


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.certificate))


def test_a_viewer_stays_while_the_certificate_is_replaced(hub: Hub, serving: Serving, authority: Authority, certificate: Certificate) -> None:
    context = trusting(authority)
    with serving(hub, certificate=certificate) as url:
        assert url.startswith("https://")
        assert httpx.get(f"{url}/healthz", verify=context).json() == {"alive": True}
        with dial(url, ssl=context) as viewer:
            say(viewer, "login", key=KEY)
            assert [hear(viewer)["type"] for _ in range(2)] == ["welcome", "feed"]
            assert name_shown(url, context) == "first"
            second = authority.issue("second")
            shutil.copy(second.key, certificate.paths[1])
            shutil.copy(second.chain, certificate.paths[0])
            eventually(lambda: name_shown(url, context) == "second", LATER)
            say(viewer, "open", sub=1, request=1, table="users", offset=0, size=2)
            assert [hear(viewer)["type"] for _ in range(2)] == ["opened", "frame"]


def test_a_certificate_that_cannot_be_used_changes_nothing(
    hub: Hub, serving: Serving, authority: Authority, certificate: Certificate, caplog: pytest.LogCaptureFixture
) -> None:
    context = trusting(authority)
    with serving(hub, certificate=certificate) as url:
        for unusable in (authority.issue("other").chain, authority.issue("old", expired=True).chain):
            said = caplog.text.count("what was there before stays")
            shutil.copy(unusable, certificate.paths[0])
            eventually(lambda before=said: caplog.text.count("what was there before stays") > before, LATER)  # type: ignore[misc]
            assert name_shown(url, context) == "first"


@pytest.mark.parametrize("broken", ["missing", "another key", "a password", "nonsense", "expired"])
def test_a_server_does_not_start_with_what_is_no_certificate(authority: Authority, tmp_path: Path, broken: str) -> None:
    issued = authority.issue("one", expired=broken == "expired", password="secret" if broken == "a password" else "")
    chain, key = issued.chain, issued.key
    if broken == "missing":
        chain = tmp_path / "none.pem"
    elif broken == "another key":
        key = authority.issue("two").key
    elif broken == "nonsense":
        chain.write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    with pytest.raises(ConfigurationError, match=r"server\.tls_certificate .*PEM files"):
        Certificate(chain, key)


def test_one_file_may_hold_both(authority: Authority, tmp_path: Path) -> None:
    issued = authority.issue("one")
    both = tmp_path / "both.pem"
    both.write_bytes(issued.chain.read_bytes() + issued.key.read_bytes())
    assert Certificate(both, None).paths == (both,)


def test_old_versions_of_tls_are_not_spoken(certificate: Certificate) -> None:
    assert certificate.context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01"], ids=["nothing", "plain HTTP", "half a greeting"])
def test_who_does_not_greet_in_time_is_let_go(hub: Hub, serving: Serving, certificate: Certificate, said: bytes) -> None:
    with serving(hub, certificate=certificate, login_seconds=0.2) as url:
        place = urlsplit(url)
        began = time.monotonic()
        with socket.create_connection((place.hostname or "", place.port or 0), 5) as wire:
            wire.sendall(said)
            while wire.recv(1000):
                pass
        assert time.monotonic() - began < LATER


def test_who_never_reads_is_cut_off_through_tls_too(serving: Serving, authority: Authority, certificate: Certificate) -> None:
    """So little waits for it in the process and in the kernel that this is noticed, as without TLS."""
    hub = Hub()
    hub.flip(generation_of(1, 4000))
    small: dict[str, Any] = {"max_queue": 1, "max_size": None, "close_timeout": 0.2}
    with serving(hub, certificate=certificate, stalled_seconds=0.5) as url, dial(url, ssl=trusting(authority), **small) as stalled:
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        say(stalled, "login", key=KEY)
        for sub in range(1, 60):
            say(stalled, "open", sub=sub, request=1, table="users", offset=sub, size=3900)
        eventually(lambda: hub.counters.stalled == 1)
        assert hub.counters.bytes < 3_000_000, "all of them together are many times that"
        eventually(lambda: not hub.audience)


def test_a_large_frame_comes_whole(serving: Serving, authority: Authority, certificate: Certificate) -> None:
    hub = Hub()
    hub.flip(generation_of(1, 5000))
    hub.say("live")
    with serving(hub, certificate=certificate) as url, dial(url, ssl=trusting(authority), max_size=None) as viewer:
        say(viewer, "login", key=KEY)
        say(viewer, "open", sub=1, request=1, table="users", offset=0, size=5000)
        heard = [hear(viewer) for _ in range(4)]
        assert [message["type"] for message in heard] == ["welcome", "feed", "opened", "frame"]
        assert len(heard[-1]["rows"]) == 5000
        say(viewer, "login", key=KEY)
        assert hear(viewer)["code"] == "bad_message"
        assert end_of(viewer) == 4400
