"""Exports saved as files, from a real server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from tablecast.cli import main
from tablecast.client.exporting import export
from tablecast.errors import ServerRefused, ServerUnreachable
from tablecast.server.hub import Hub
from tests.unit.server.talking import KEY, Serving


def test_a_view_is_saved_by_the_command_line(
    hub: Hub, serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(hub) as url:
        where = ["--url", url, "--key", KEY]
        assert main(["export", "users", "all.parquet", *where]) == 0
        condition = '{"op":"ne","column":"name","value":"row 9"}'
        assert main(["export", "user", "some.csv", *where, "--sort", "name:desc", "--filter", condition, "--neutralise-formulas"]) == 0
        assert main(["export", "users", "all.xlsx", *where]) == 1
        assert main(["export", "users", "no/folder.csv", *where]) == 2
    told = capsys.readouterr()
    assert "10 rows of users in all.parquet" in told.out
    assert "no format 'xlsx'" in told.err
    assert "no/folder.csv" in told.err
    assert pyarrow.parquet.read_table("all.parquet").num_rows == 10
    assert pyarrow.csv.read_csv("some.csv").column("name").to_pylist() == [f"row {index}" for index in range(8, -1, -1)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["all.parquet", "some.csv"]


def test_what_is_refused_is_raised_and_leaves_the_old_file(hub: Hub, serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "users.csv"
    file.write_text("old")
    with serving(hub) as url:
        with pytest.raises(ServerRefused, match="no table 'nope'") as refused:
            export(url, KEY, "nope", file, {})
        assert refused.value.answer == "unknown_table"
        with pytest.raises(ServerRefused, match="not the one"):
            export(url, "wrong", "users", file, {})
    with pytest.raises(ServerUnreachable):
        export(url, KEY, "users", file, {})
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("users.csv", "old")]


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that says this, and then hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def say() -> None:
            client, _ = server.accept()
            with client:
                client.recv(65_536)
                client.sendall(answer)

        thread = threading.Thread(target=say)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 200 OK\r\ntablecast-rows: 5\r\ntransfer-encoding: chunked\r\n\r\n3\r\na,b\r\n", "broke off"),
        (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\noops", "502"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\noops", "no table server"),
        (b"HTTP/1.1 200 OK\r\ntablecast-rows: \xb2\r\ncontent-length: 4\r\n\r\noops", "no table server"),
    ],
    ids=["half an export", "not a table server", "a proxy that greets", "rows that are no number"],
)
def test_half_an_export_is_none(tmp_path: Path, answer: bytes, words: str) -> None:
    with answering(answer) as url, pytest.raises(ServerUnreachable, match=words):
        export(url, KEY, "users", tmp_path / "users.csv", {})
    assert list(tmp_path.iterdir()) == []
