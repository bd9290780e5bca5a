"""V1 and the contract of HTTP."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.builder import BUILD_ROWS
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.settings import ServerSettings
from tablecast.tables.generation import Generation
from tablecast.tables.view import ShapedView

from .talking import BEARER, KEY, Client, generation_of


@pytest.mark.parametrize("path", ["/api/tables", "/api/tables/users/rows", "/api/status", "/metrics", "/api/nothing"])
@pytest.mark.parametrize(
    ("header", "code"), [(None, "login_required"), ("Basic abc", "login_required"), ("Bearer wrong", "wrong_key"), ("Bearer ", "wrong_key")]
)
def test_nothing_is_served_without_the_key(hub: Hub, client: Client, path: str, header: str | None, code: str) -> None:
    answer = client(hub, key=False).get(path, headers={"authorization": header} if header else {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, code)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_tables(hub: Hub, client: Client) -> None:
    columns = [{"name": "name", "type": "string"}, {"name": "n", "type": "int64"}]
    assert client(hub).get("/api/tables").json() == {
        "tables": [{"name": "users", "columns": columns, "rows": 10, "generation": 1}],
        "aliases": {"user": "users"},
    }


def test_rows(hub: Hub, client: Client) -> None:
    answer = client(hub).get("/api/tables/user/rows", params={"offset": 100, "size": 2})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "table": "user",
        "generation": 1,
        "total": 10,
        "offset": 8,
        "columns": [{"name": "name", "type": "string"}, {"name": "n", "type": "int64"}],
        "rows": [{"name": "row 8", "n": "1"}, {"name": "row 9", "n": "1"}],
    }


def test_rows_of_a_view_are_those_of_the_generation_that_is_shown_when_it_is_built() -> None:
    """The tables change over, and the old ones are taken apart, while the view is being built."""
    hub, old = Hub(), generation_of(1, BUILD_ROWS * 20)
    hub.flip(old)
    app = create_app(hub, ServerSettings(), Gate(Keys(SecretStr(KEY))))

    async def scenario() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server", headers=BEARER) as client:
            asking = asyncio.create_task(client.get("/api/tables/users/rows?sort=name:desc&size=1"))
            while not hub.wanted()["users"]:
                await asyncio.sleep(0)
            hub.flip(generation_of(2, BUILD_ROWS * 2))
            old.dismantle()
            return await asyncio.wait_for(asking, 5)

    answer = asyncio.run(scenario()).json()
    assert (answer["generation"], answer["total"], answer["rows"]) == (2, BUILD_ROWS * 2, [{"name": "row 999", "n": "2"}])


def test_rows_of_a_view_that_is_gone_afterwards(hub: Hub, client: Client) -> None:
    condition = json.dumps({"op": "ne", "column": "name", "value": "row 9"})
    answer = client(hub).get("/api/tables/users/rows", params={"size": 2, "sort": "n:asc, name:desc", "filter": condition, "search": "ROW"}).json()
    assert (answer["total"], [row["name"] for row in answer["rows"]]) == (9, ["row 8", "row 7"])
    assert hub.wanted() == {"users": frozenset()}


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("asked", ["rows?sort=name", "export?sort=name"])
def test_who_asks_for_a_view_that_fails_is_told_so(client: Client, monkeypatch: pytest.MonkeyPatch, asked: str, steps: int) -> None:
    """At whatever step of building it, and of putting in order what an export needs."""
    hub = Hub()
    hub.flip(generation_of(1, BUILD_ROWS * 3 + 1))
    build, left = ShapedView.build, iter(range(steps))

    def fails(view: ShapedView, limit: int) -> bool:
        if next(left, None) is None:
            raise ZeroDivisionError
        return build(view, limit)

    monkeypatch.setattr(ShapedView, "build", fails)
    answer = client(hub).get(f"/api/tables/users/{asked}")
    if answer.status_code == 200:
        assert steps >= 4
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "view_failed")
    monkeypatch.undo()
    assert hub.wanted() == {"users": frozenset()}
    assert client(hub).get(f"/api/tables/users/{asked}").status_code == 200


@pytest.mark.parametrize("rows", [6, BUILD_ROWS * 3])
@pytest.mark.parametrize("what", ["rows", "export"])
def test_a_view_of_too_many_groups_is_refused(client: Client, what: str, rows: int) -> None:
    hub = Hub()
    hub.flip(Generation(1, [generation_of(1, rows).find("users").table], {}, 5))
    answer = client(hub).get(f"/api/tables/users/{what}", params={"group": '{"by":["name"]}'})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "too_many_groups")
    assert client(hub).get(f"/api/tables/users/{what}", params={"group": '{"by":["n"]}'}).status_code == 200


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("size=0", 400, "bad_window"),
        ("size=1000000", 400, "bad_window"),
        ("size=many", 400, "bad_window"),
        ("size=1.5", 400, "bad_window"),
        ("offset=-1", 400, "bad_window"),
        ("offset=" + "9" * 30, 400, "bad_window"),
        ("sort=x", 400, "bad_view"),
        ("sort=n:up", 400, "bad_view"),
        ("sort=n,n,n,n", 400, "bad_view"),
        ("filter=age", 400, "bad_view"),
        ("filter=[]", 400, "bad_view"),
        ("filter=%7B%7D", 400, "bad_view"),
        ("filter=" + "[" * 20_000, 400, "bad_view"),
        ("group=" + "[" * 20_000, 400, "bad_view"),
        ("sort=name:asc:xx", 400, "bad_view"),
    ],
)
def test_a_bad_query_is_refused_with_a_code(hub: Hub, client: Client, query: str, status: int, code: str) -> None:
    answer = client(hub).get(f"/api/tables/users/rows?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("GET /api/tables/userz/rows", 404, "unknown_table"),
        ("GET /api/nothing", 404, "not_found"),
        ("GET /nothing", 404, "not_found"),
        ("GET /..%2f..%2fsettings.py", 404, "not_found"),
        ("GET /%00", 404, "not_found"),
        (f"GET /{'x' * 5000}", 404, "not_found"),
        ("POST /api/tables", 405, "method_not_allowed"),
        ("POST /nothing", 405, "method_not_allowed"),
        ("POST /api/control", 503, "not_ready"),
    ],
)
def test_every_error_has_one_form(hub: Hub, client: Client, asked: str, status: int, code: str) -> None:
    answer = client(hub).request(*asked.split())
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize("host", ["[::1", "]", "a b", "x:y", "\xff"])
def test_what_nobody_can_be_called_is_no_crash(hub: Hub, client: Client, host: str) -> None:
    answer = client(hub).get("/nothing", headers={"host": host.encode("latin-1")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_a_crash_is_an_answer_too(hub: Hub, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(hub, "current", lambda: 1 / 0)
    answer = client(hub).get("/api/tables")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "GET /api/tables failed" in caplog.text


def test_health_and_readiness_need_no_key(hub: Hub, client: Client) -> None:
    assert client(hub, key=False).get("/healthz").status_code == 200
    assert client(hub, key=False).get("/readyz").json() == {"ready": True}
    empty = Hub()
    assert client(empty, key=False).get("/healthz").status_code == 200
    empty.say("filling", "The changelog broker secret:9092 does not answer.")
    answer = client(empty, key=False).get("/readyz")
    assert "secret" not in answer.text
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
    assert "secret:9092" in client(empty).get("/api/status").json()["feed"]["message"]
    assert client(empty).get("/api/tables").status_code == 503


def test_status(hub: Hub, client: Client) -> None:
    assert client(hub).get("/api/status").json() == {
        "feed": {"state": "live", "message": None},
        "generation": 1,
        "reads": None,
        "generations": [],
        "servers": [],
    }


def test_metrics(hub: Hub, client: Client) -> None:
    lines = client(hub).get("/metrics").text.splitlines()
    assert 'tablecast_rows{table="users"} 10' in lines
    assert 'tablecast_feed_state{state="live"} 1' in lines
    assert "tablecast_viewers 0" in lines
    assert "# TYPE tablecast_messages_sent_total counter" in lines
    assert 'tablecast_feed_state{state="filling"} 1' in client(Hub()).get("/metrics").text.splitlines()


def test_the_page_and_its_cache(hub: Hub, client: Client, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Tablecast</title>")
    (tmp_path / "main-ABCDEF12.js").write_text("1")
    (tmp_path / "favicon.ico").write_text("1")
    visitor = client(hub, key=False, page=tmp_path)
    index = visitor.get("/")
    assert (index.text, index.headers["cache-control"]) == ("<title>Tablecast</title>", "no-cache")
    assert visitor.get("/main-ABCDEF12.js").headers["cache-control"] == "public, max-age=31536000, immutable"
    assert visitor.get("/favicon.ico").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip, deflate, br, zstd", "br"), ("GZIP", "gzip"), ("br;q=0, gzip;q=0.5", "gzip"), ("br; q=0.0", None), ("identity", None), ("", None)],
)
def test_the_page_is_sent_as_small_as_the_browser_takes_it(hub: Hub, client: Client, tmp_path: Path, accepted: str, encoding: str | None) -> None:
    sizes = {None: 300, "gzip": 200, "br": 100}
    for name, suffix in ((None, ""), ("gzip", ".gz"), ("br", ".br")):
        (tmp_path / f"main-ABCDEF12.js{suffix}").write_bytes(b"1" * sizes[name])
    answer = client(hub, key=False, page=tmp_path).request("HEAD", "/main-ABCDEF12.js", headers={"accept-encoding": accepted})
    assert (answer.headers.get("content-encoding"), int(answer.headers["content-length"])) == (encoding, sizes[encoding])
    assert answer.headers["content-type"].startswith("text/javascript")
    assert (answer.headers["vary"], answer.headers["cache-control"]) == ("accept-encoding", "public, max-age=31536000, immutable")
    plain = client(hub, key=False, page=tmp_path).request("HEAD", "/nothing.js", headers={"accept-encoding": accepted})
    assert plain.status_code == 404


def test_a_server_without_its_page_says_so(hub: Hub, client: Client) -> None:
    answer = client(hub, key=False).get("/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "page_missing")
