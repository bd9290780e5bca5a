"""What answers say of themselves, and who may ask from another page."""

from typing import Any

import httpx
import pytest

from tablecast.server.edge import content_policy, is_allowed, security_headers
from tablecast.server.hub import Hub
from tablecast.settings import ServerSettings

from .talking import KEY, Client

PORTAL = "https://portal.example"


def policy(**settings: Any) -> dict[str, list[str]]:
    rules = [rule.split() for rule in content_policy(ServerSettings.model_validate(settings)).split(";")]
    return {name: sources for name, *sources in rules}


def test_the_policy_lets_the_page_use_its_own_files_and_server_alone() -> None:
    rules = policy()
    assert rules["default-src"] == ["'none'"]
    assert {name: sources for name, sources in rules.items() if sources == ["'self'"]}.keys() >= {"script-src", "style-src", "connect-src", "img-src"}
    assert rules["frame-ancestors"] == ["'none'"]
    assert "unsafe" not in content_policy(ServerSettings())


def test_the_policy_names_who_may_frame_the_page_and_where_it_may_log_in() -> None:
    rules = policy(frame_ancestors=["self", PORTAL, "https://*.example"], page_servers=["https://other.example:8443", "http://localhost:10000"])
    assert rules["frame-ancestors"] == ["'self'", PORTAL, "https://*.example"]
    assert rules["connect-src"] == [
        "'self'",
        "https://other.example:8443",
        "wss://other.example:8443",
        "http://localhost:10000",
        "ws://localhost:10000",
    ]


@pytest.mark.parametrize("setting", ["origins", "frame_ancestors", "page_servers"])
@pytest.mark.parametrize(
    "value", ["*", "https://a.example/path", "https://a.example; script-src *", "a.example", "https://a.example\r\nx: y", "null"]
)
def test_no_setting_can_say_more_than_an_origin(setting: str, value: str) -> None:
    with pytest.raises(ValueError, match=setting):
        ServerSettings.model_validate({setting: [value]})


@pytest.mark.parametrize(("path", "status"), [("/api/tables", 200), ("/api/none", 404), ("/metrics", 200), ("/healthz", 200), ("/none", 404)])
def test_every_answer_has_the_headers_and_none_sets_a_cookie(hub: Hub, client: Client, path: str, status: int) -> None:
    for visitor in (client(hub), client(hub, key=False)):
        answer = visitor.get(path)
        assert answer.status_code in (status, 401)
        headers = security_headers(ServerSettings())
        assert {name: answer.headers.get(name) for name in headers} == headers
        assert "set-cookie" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers


def test_a_crash_has_them_too(hub: Hub, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "current", lambda: 1 / 0)
    assert client(hub).get("/api/tables").headers["x-content-type-options"] == "nosniff"


def test_with_tls_browsers_are_told_to_stay_with_it(hub: Hub, client: Client) -> None:
    assert client(hub, tls_certificate="chain.pem").get("/healthz").headers["strict-transport-security"] == "max-age=31536000"


def test_a_page_that_may_be_framed_says_so_in_one_way(hub: Hub, client: Client) -> None:
    assert client(hub).get("/").headers["x-frame-options"] == "DENY"
    assert "x-frame-options" not in client(hub, frame_ancestors=[PORTAL]).get("/").headers


def preflight(answer: httpx.Response) -> str | None:
    allowed: str | None = answer.headers.get("access-control-allow-origin")
    return allowed


def test_other_pages_may_not_ask_unless_the_settings_name_them(hub: Hub, client: Client) -> None:
    asking = {"origin": PORTAL, "access-control-request-method": "GET", "access-control-request-headers": "authorization"}
    closed = client(hub, key=False).request("OPTIONS", "/api/tables", headers=asking)
    assert (closed.status_code, preflight(closed)) == (401, None)
    assert preflight(client(hub).get("/api/tables", headers={"origin": PORTAL})) is None
    open_ = client(hub, key=False, origins=[PORTAL]).request("OPTIONS", "/api/tables", headers=asking)
    assert (open_.status_code, preflight(open_)) == (200, PORTAL)
    answer = client(hub, origins=[PORTAL]).get("/api/tables", headers={"origin": PORTAL})
    assert (answer.status_code, preflight(answer)) == (200, PORTAL)
    assert "tablecast-rows" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers, "no cookie is ever sent along"
    evil = client(hub, origins=[PORTAL]).get("/api/tables", headers={"origin": "https://evil.example"})
    assert preflight(evil) is None


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_of_another_page_changes_nothing(hub: Hub, client: Client, kind: str) -> None:
    """All that a page elsewhere can make a browser send without asking: what lets somebody in is never sent by itself."""
    body = '{"usersTopic": "evil", "accountsTopic": "evil"}'
    headers = {"origin": "https://evil.example", "content-type": kind, "cookie": f"key={KEY}"}
    answer = client(hub, key=False).request("POST", "/api/control", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "login_required")
    by_query = client(hub, key=False).request("POST", f"/api/control?key={KEY}", content=body, headers=headers)
    assert by_query.status_code == 401


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "tables.example", True),
        ("https://tables.example", "tables.example", True),
        ("https://tables.example", "tables.example:443", True),
        ("http://tables.example:10000", "Tables.Example:10000", True),
        ("http://[::1]:10000", "[::1]:10000", True),
        (PORTAL, "tables.example", True),
        ("https://tables.example:8443", "tables.example", False),
        ("https://tables.example.evil.example", "tables.example", False),
        ("http://portal.example", "tables.example", False),
        ("null", "tables.example", False),
        ("null", "", False),
        ("", "", False),
        ("https://", "", False),
        ("https://[", "[", False),
        ("https://tables.example:x", "tables.example", False),
    ],
)
def test_a_socket_is_opened_for_pages_of_this_host_and_of_the_settings(origin: str | None, host: str, allowed: bool) -> None:
    assert is_allowed(origin, host, [PORTAL]) is allowed
