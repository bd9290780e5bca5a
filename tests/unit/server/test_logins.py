"""Logins over a real socket and over HTTP: roles, tokens that expire, keys that are withdrawn, strangers that are too many. No Kafka."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from websockets.exceptions import InvalidStatus

from tablecast.server import fresh_files
from tablecast.server.auth import Gate
from tablecast.server.brake import Brake
from tablecast.server.hub import Hub
from tablecast.server.key_set import KeySet
from tablecast.server.keys import PSK, KeyFiles, Keys
from tablecast.server.serve import make_gate
from tablecast.server.strangers import REQUESTS_BURST
from tablecast.server.tokens import Tokens
from tablecast.settings import ServerSettings
from tests.token_server import TokenServer

from .talking import BEARER, KEY, Clock, Serving
from .test_tokens import settings_of
from .test_viewer_socket import dial, end_of, eventually, hear, say

OPERATOR_KEY = "for operators"


@pytest.fixture(scope="module")
def listening() -> Iterator[TokenServer]:
    with TokenServer() as provider:
        yield provider


def gate_of(provider: TokenServer, **more: Any) -> Gate:
    return make_gate(ServerSettings(psk=SecretStr(KEY), oidc=settings_of(provider, **more)))


def logged_in(url: str, key: str, stack: ExitStack) -> Any:
    viewer = stack.enter_context(dial(url))
    say(viewer, "login", key=key)
    return viewer


@pytest.mark.parametrize(("key", "role", "status"), [(KEY, "viewer", 403), (OPERATOR_KEY, "operator", 503)])
def test_only_operators_may_hand_in_a_control_message(hub: Hub, serving: Serving, key: str, role: str, status: int) -> None:
    gate = Gate(Keys(SecretStr(KEY), SecretStr(OPERATOR_KEY)))
    with serving(hub, gate=gate) as url, dial(url) as viewer:
        say(viewer, "login", key=key)
        assert hear(viewer)["role"] == role
        bearer = {"authorization": f"Bearer {key}"}
        answer = httpx.post(f"{url}/api/control", json={"usersTopic": "x"}, headers=bearer)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "not_operator" if role == "viewer" else "not_ready")
        for path in ("/api/tables", "/api/tables/users/rows", "/api/status", "/metrics", "/api/openapi.json"):
            assert httpx.get(url + path, headers=bearer).status_code == 200, "everybody may read"


def test_a_token_logs_in_and_ends_when_it_expires(hub: Hub, serving: Serving, listening: TokenServer) -> None:
    with serving(hub, gate=gate_of(listening, leeway_seconds=0)) as url, dial(url) as viewer:
        token = listening.token("zoe", lifetime=2, roles=["viewer"])
        say(viewer, "login", key=token)
        assert (hear(viewer)["role"], hear(viewer)["type"]) == ("viewer", "feed")
        bearer = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{url}/api/tables", headers=bearer).status_code == 200
        assert httpx.post(f"{url}/api/control", json={}, headers=bearer).json()["error"]["code"] == "not_operator"
        ended = hear(viewer)
        assert (ended["type"], ended["code"]) == ("error", "token_expired")
        assert end_of(viewer) == 4419
        answer = httpx.get(f"{url}/api/tables", headers=bearer)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "token_expired")


def test_messages_behind_a_login_wait_until_the_provider_has_answered(hub: Hub, serving: Serving, listening: TokenServer) -> None:
    with serving(hub, gate=gate_of(listening)) as url, dial(url) as viewer:
        say(viewer, "login", key=listening.token("zoe", roles=["operator"]))
        say(viewer, "open", sub=1, request=1, table="users", offset=0, size=1)
        assert [hear(viewer)["type"] for _ in range(4)] == ["welcome", "feed", "opened", "frame"]


def test_keys_of_the_provider_are_rotated_without_a_restart(hub: Hub, serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablecast.server.key_set.APART_SECONDS", 0.0)
    with TokenServer() as provider, serving(hub, gate=gate_of(provider)) as url:
        for _ in range(2):
            with dial(url) as viewer:
                say(viewer, "login", key=provider.token("zoe", roles=["viewer"]))
                assert hear(viewer)["type"] == "welcome"
            provider.rotate()


@pytest.mark.parametrize(
    ("claims", "code", "close_code"),
    [
        ({"roles": ["guest"]}, "no_role", 4403),
        ({"roles": ["viewer"], "aud": "x"}, "bad_token", 4401),
        ({"roles": ["viewer"], "exp": 1}, "token_expired", 4419),
    ],
)
def test_a_token_that_is_not_taken_is_told_why(
    hub: Hub, serving: Serving, listening: TokenServer, claims: dict[str, Any], code: str, close_code: int
) -> None:
    with serving(hub, gate=gate_of(listening)) as url, dial(url) as viewer:
        say(viewer, "login", key=listening.token("zoe", **claims))
        assert hear(viewer)["code"] == code
        assert end_of(viewer) == close_code


def test_a_provider_that_is_away_is_said_to_be(hub: Hub, serving: Serving) -> None:
    provider = TokenServer()
    with serving(hub, gate=gate_of(provider)) as url, dial(url) as viewer:
        token = provider.token("zoe", roles=["viewer"])
        say(viewer, "login", key=token)
        assert hear(viewer)["code"] == "login_unavailable"
        assert end_of(viewer) == 4503
        answer = httpx.get(f"{url}/api/tables", headers={"authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "login_unavailable")


def test_a_login_that_is_being_decided_ends_in_time(hub: Hub, serving: Serving, provider: TokenServer) -> None:
    """The provider takes for ever: the time for a login is over first."""
    over = threading.Event()

    def never() -> list[dict[str, Any]]:
        over.wait(10)
        return []

    gate = Gate(Keys(), Tokens(settings_of(provider), KeySet(never)))
    with serving(hub, gate=gate, login_seconds=0.2) as url, dial(url) as viewer:
        say(viewer, "login", key=provider.token("zoe"))
        assert hear(viewer)["code"] == "login_timeout"
        assert end_of(viewer) == 4408
        over.set()


def test_who_guesses_is_slowed_down_on_both_ways(hub: Hub, serving: Serving, clock: Clock) -> None:
    gate = Gate(Keys(SecretStr(KEY)), brake=Brake(burst=2, per_second=0.5, clock=clock))
    with serving(hub, gate=gate) as url, httpx.Client(base_url=url) as client, dial(url) as viewer:
        for number in range(2):
            answer = client.get("/api/tables", headers={"authorization": f"Bearer guess {number}"})
            assert answer.json()["error"]["code"] == "wrong_key"
        slowed = client.get("/api/tables", headers=BEARER)
        assert (slowed.status_code, slowed.json()["error"]["code"], slowed.headers["retry-after"]) == (429, "too_many_logins", "2")
        say(viewer, "login", key="one more guess")
        told = hear(viewer)
        assert (told["code"], told["retryAfter"]) == ("too_many_logins", 2)
        assert end_of(viewer) == 4429
        clock.now += 2
        assert client.get("/api/tables", headers=BEARER).status_code == 200
        assert hub.counters.refused["too_many_logins"] == 2


def test_keys_are_rotated_while_viewers_look(hub: Hub, serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are good while one takes the place of the other; who came with the one that is gone goes, and nobody else."""
    monkeypatch.setattr(fresh_files, "LOOK_SECONDS", 0.02)
    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n")
    files = KeyFiles(ServerSettings(psk=SecretStr(KEY)), {PSK: file})
    with serving(hub, key_files=files) as url, dial(url) as old, dial(url) as new:
        say(old, "login", key=KEY)
        assert [hear(old)["type"] for _ in range(2)] == ["welcome", "feed"]
        file.write_text(f"{KEY}\nthe next one\n")
        bearer = {"authorization": "Bearer the next one"}
        eventually(lambda: httpx.get(f"{url}/api/tables", headers=bearer).status_code == 200)
        assert httpx.get(f"{url}/api/tables", headers=BEARER).status_code == 200
        say(new, "login", key="the next one")
        assert [hear(new)["type"] for _ in range(2)] == ["welcome", "feed"]
        file.write_text("the next one\n")
        assert hear(old)["code"] == "key_withdrawn"
        assert end_of(old) == 4401
        say(new, "ping", id=1)
        assert hear(new) == {"type": "pong", "id": 1}
        assert httpx.get(f"{url}/api/tables", headers=BEARER).json()["error"]["code"] == "wrong_key"


def test_a_page_of_another_origin_opens_no_socket(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url:
        for origin in ("https://evil.example", "null"):
            with pytest.raises(InvalidStatus) as refused:
                dial(url, origin=origin)
            assert refused.value.response.status_code == 403
            assert b"wrong_origin" in (refused.value.response.body or b"")
        with dial(url, origin=url) as viewer:
            say(viewer, "login", key=KEY)
            assert hear(viewer)["type"] == "welcome"
    with serving(hub, origins=["https://portal.example"]) as url, dial(url, origin="https://portal.example") as viewer:
        say(viewer, "login", key=KEY)
        assert hear(viewer)["type"] == "welcome"


def test_strangers_hold_only_so_many_connections(hub: Hub, serving: Serving) -> None:
    with serving(hub, strangers=3) as url, ExitStack() as stack:
        viewers = [logged_in(url, KEY, stack) for _ in range(5)]
        assert {hear(viewer)["type"] for viewer in viewers} == {"welcome"}, "who has logged in is no stranger"
        for _ in range(3):
            stack.enter_context(dial(url))
        answer = httpx.get(f"{url}/healthz")
        assert (answer.status_code, answer.json()["error"]["code"], answer.headers["retry-after"]) == (429, "too_many_connections", "1")
    with serving(hub, strangers=1) as url, httpx.Client(base_url=url, headers=BEARER) as client:
        assert client.get("/api/tables").status_code == 200
        assert httpx.get(f"{url}/healthz").status_code == 200, "who has shown a key is no stranger either"


def test_requests_without_a_login_come_only_so_fast(hub: Hub, serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablecast.server.strangers.REQUESTS_BURST", 5)
    monkeypatch.setattr("tablecast.server.strangers.REQUESTS_PER_SECOND", 0.1)
    assert REQUESTS_BURST >= 1000
    with serving(hub) as url, httpx.Client(base_url=url) as client:
        answers = [client.get("/healthz") for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        assert (answers[-1].json()["error"]["code"], int(answers[-1].headers["retry-after"])) == ("too_many_requests", 10)
        assert client.get("/api/tables").json()["error"]["code"] == "too_many_requests"
        assert client.get("/api/tables", headers=BEARER).status_code == 200
