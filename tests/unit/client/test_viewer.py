"""The client against a server that says what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

from tablecast.client.viewer import connect, socket_url
from tablecast.errors import ServerRefused, ServerUnreachable

WELCOME = {"type": "welcome", "protocol": "tablecast.v1", "server": "0", "limits": {"windowRows": 9, "subscriptions": 9, "messageBytes": 9}}
OPENED = {"type": "opened", "sub": 1, "request": 1, "table": "t", "generation": 1, "columns": [{"name": "n", "type": "int64"}]}

Script = dict[str, list[dict[str, Any]]]
Scripted = Callable[..., AbstractContextManager[str]]


def frame(request: int, revision: int, **rows: dict[str, str]) -> dict[str, Any]:
    counts = {"request": request, "generation": 1, "revision": revision, "total": len(rows), "offset": 0}
    return {"type": "frame", "sub": 1, **counts, "ids": list(rows), "rows": rows}


@pytest.fixture
def scripted() -> Scripted:
    """`with scripted(script, heard) as url`: each type of message is answered with what the script has for it, and kept in `heard`."""

    @contextmanager
    def run(script: Script, heard: list[dict[str, Any]] | None = None) -> Iterator[str]:
        def answer(socket: ServerConnection) -> None:
            for message in socket:
                if heard is not None:
                    heard.append(json.loads(message))
                for reply in script[json.loads(message)["type"]]:
                    socket.send(json.dumps(reply))

        with serve(answer, "127.0.0.1", 0) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
            server.shutdown()
            thread.join()

    return run


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://host:1", "ws://host:1/ws"),
        ("http://host:1/", "ws://host:1/ws"),
        ("https://host/behind/", "wss://host/behind/ws"),
        ("ws://host:1/ws", "ws://host:1/ws"),
    ],
)
def test_the_address_of_the_page_is_enough(url: str, expected: str) -> None:
    assert socket_url(url) == expected


def test_a_table_is_opened_moved_and_closed(scripted: Scripted) -> None:
    script: Script = {
        "login": [WELCOME, {"type": "feed", "state": "live", "message": None}],
        "open": [OPENED, frame(1, 1, a={"n": "1"}), frame(1, 2, a={"n": "1"}, b={"n": "2"})],
        "move": [frame(1, 3, late={"n": "0"}), frame(2, 4, b={"n": "2"})],
        "close": [{"type": "closed", "sub": 1}],
    }
    with scripted(script) as url, connect(url, "key") as viewer:
        table = viewer.open("t", size=2)
        windows = iter(table)
        assert [dict(next(windows).rows) for _ in range(2)] == [{"a": {"n": "1"}}, {"a": {"n": "1"}, "b": {"n": "2"}}]
        assert [column.name for column in table.columns] == ["n"]
        assert viewer.feed is not None
        assert viewer.feed.state == "live"
        table.move(1, 1)
        assert next(windows).rows == (("b", {"n": "2"}),)
        table.close()
        assert list(windows) == []


def test_a_row_is_looked_for_in_the_whole_view(scripted: Scripted) -> None:
    found = [{"type": "found", "sub": 1, "row": row, "index": index} for row, index in (("other", 1), ("far", 500_123))]
    with scripted({"login": [WELCOME], "open": [OPENED], "find": found}) as url, connect(url, "key") as viewer:
        assert viewer.open("t").find("far", 5) == 500_123
    refusal = {"type": "error", "code": "unknown_table", "message": "There is no table 't'.", "hint": None, "sub": 1}
    with scripted({"login": [WELCOME], "open": [refusal], "find": []}) as url, connect(url, "key") as viewer, pytest.raises(ServerRefused):
        viewer.open("t").find("far", 5)


def test_what_the_server_refuses_is_raised(scripted: Scripted) -> None:
    refusal = {"type": "error", "code": "unknown_table", "message": "There is no table 't'.", "hint": "Tables here: u.", "sub": 1}
    with scripted({"login": [WELCOME], "open": [refusal]}) as url, connect(url, "key") as viewer:
        with pytest.raises(ServerRefused, match="no table") as refused:
            viewer.open("t").wait(5)
        assert refused.value.answer == "unknown_table"


def test_what_was_never_opened_can_be_closed(scripted: Scripted) -> None:
    refusals = [{"type": "error", "code": code, "message": "No.", "hint": None, "sub": 1} for code in ("unknown_table", "unknown_subscription")]
    with scripted({"login": [WELCOME], "open": refusals[:1], "close": refusals[1:]}) as url, connect(url, "key") as viewer:
        table = viewer.open("t")
        table.close(timeout=5)
        assert list(table) == []


def test_groups_and_orders_of_a_language_are_asked_for(scripted: Scripted) -> None:
    asked: Script = {"login": [WELCOME], "open": [OPENED, frame(1, 1)]}
    group = {"by": ["n"], "aggregates": [{"op": "count"}]}
    heard: list[dict[str, Any]] = []
    with scripted(asked, heard) as url, connect(url, "key") as viewer:
        viewer.open("t", sort=[("n", True), ("name", False, "de")], group=group).wait(5)
    assert heard[-1]["sort"] == [{"column": "n", "descending": True}, {"column": "name", "descending": False, "locale": "de"}]
    assert heard[-1]["group"] == group


def test_a_server_that_does_not_answer_the_login_is_told_with_its_address(scripted: Scripted) -> None:
    with scripted({"login": []}) as url, pytest.raises(ServerUnreachable, match="login"):
        connect(url, "key", timeout=0.2)


def test_a_wrong_key_is_raised_at_once(scripted: Scripted) -> None:
    refusal = {"type": "error", "code": "wrong_key", "message": "The key is wrong.", "hint": None}
    with scripted({"login": [refusal]}) as url, pytest.raises(ServerRefused, match="key is wrong"):
        connect(url, "key")


def test_a_server_that_is_not_there_is_told_with_its_address() -> None:
    with pytest.raises(ServerUnreachable, match=r"http://127\.0\.0\.1:1 does not answer"):
        connect("http://127.0.0.1:1", "key")


def test_a_server_that_goes_is_told_too(scripted: Scripted) -> None:
    with scripted({"login": [WELCOME], "open": [OPENED]}) as url:
        viewer = connect(url, "key")
        table = viewer.open("t")
    with viewer, pytest.raises(ServerUnreachable):
        table.wait(5)
