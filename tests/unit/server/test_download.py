"""Exports over real sockets: of one instant, bounded in number, and over when nobody takes them."""

import asyncio
import io
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tablecast.catalog import Column
from tablecast.errors import ExportsTooMany
from tablecast.server.download import Desks, Download
from tablecast.server.hub import Hub
from tablecast.server.typed_cells import with_sums

from .talking import KEY, Client, Serving, generation_of, put, table_of
from .test_viewer_socket import dial, eventually, hear, say

BEARER = {"authorization": f"Bearer {KEY}"}
EXPORT = "/api/tables/users/export"


def table_in(content: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.csv.read_csv(io.BytesIO(content)).to_pylist()
    return rows


def test_a_view_is_exported_whole(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url:
        query = {"sort": "name:desc", "filter": '{"op":"ne","column":"name","value":"row 9"}', "search": "ROW"}
        answer = httpx.get(url + EXPORT, params=query, headers=BEARER)
        assert [row["name"] for row in table_in(answer.content)] == [f"row {index}" for index in range(8, -1, -1)]
        assert answer.headers["content-disposition"] == 'attachment; filename="users.csv"'
        assert (answer.headers["tablecast-generation"], answer.headers["tablecast-rows"]) == ("1", "9")
        assert hub.wanted() == {"users": frozenset()}
        for path, code in ((f"{EXPORT}?format=xlsx", "bad_view"), (f"{EXPORT}?size=5", "bad_view"), (f"{EXPORT}?sort=x", "bad_view")):
            assert httpx.get(url + path, headers=BEARER).json()["error"]["code"] == code


def test_the_rows_are_those_of_one_instant_though_all_is_changed_and_swapped_meanwhile(serving: Serving) -> None:
    hub = Hub()
    hub.flip(generation_of(1, 100_000))
    with serving(hub) as url, httpx.stream("GET", url + EXPORT, headers=BEARER) as answer:
        chunks = answer.iter_raw()
        first = next(chunks)
        for index in range(0, 100_000, 10):
            put(table_of(hub), index, 7, version=1)
        hub.generation, before = generation_of(2, 1), hub.generation
        assert before is not None
        before.dismantle()
        rows = table_in(first + b"".join(chunks))
        assert (len(rows), {row["n"] for row in rows}, answer.headers["tablecast-rows"]) == (100_000, {1}, "100000")


def half_read(url: str) -> socket.socket | None:
    """A client that asks for an export and reads only the beginning of it. None if there is no desk for it."""
    place = urlsplit(url)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((place.hostname, place.port))
    client.sendall(f"GET {EXPORT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode())
    if client.recv(15) == b"HTTP/1.1 200 OK":
        return client
    client.close()
    return None


def until_there_is_a_desk(url: str) -> socket.socket:
    deadline = time.monotonic() + 10
    while (client := half_read(url)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return client


def test_who_goes_away_or_takes_nothing_gives_the_desk_back(serving: Serving) -> None:
    """The file is larger than what the system takes in without anybody reading it."""
    hub = Hub()
    hub.flip(generation_of(1, 0))
    for index in range(60_000):
        table_of(hub).upsert(b"%d" % index, b'{"name":"%s","n":"1"}' % (b"x" * 200), b"1:0:%d" % index)
    with serving(hub, exports=1, stalled_seconds=0.3) as url:
        leaves = half_read(url)
        assert leaves is not None
        busy = httpx.get(url + EXPORT, headers=BEARER)
        assert (busy.status_code, busy.json()["error"]["code"]) == (503, "too_many_exports")
        leaves.close()
        with until_there_is_a_desk(url):
            eventually(lambda: httpx.get(url + EXPORT + "?search=nothing", headers=BEARER).status_code == 200)


MANY = 60_000


def test_the_columns_of_a_large_export_of_groups_are_found_out_beside_the_loop(hub: Hub, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read a hundred thousand groups for it would hold up the ticking."""
    loops = list[threading.Thread]()

    def looked(columns: Sequence[Column], rows: Sequence[bytes]) -> tuple[Column, ...]:
        loops.append(threading.current_thread())
        return with_sums(columns, rows)

    monkeypatch.setattr("tablecast.server.api.with_sums", looked)
    answer = client(hub).get(EXPORT, params={"group": '{"by":["n"],"aggregates":[{"op":"count"}]}'})
    assert table_in(answer.content) == [{"n": 1, "count": 10}]
    assert [thread is threading.main_thread() for thread in loops] == [False]


class TickingHub(Hub):
    """Changes its first row as often as it looks for old ones."""

    version = 0

    def trim(self) -> bool:
        self.version += 1
        put(table_of(self), 0, self.version, self.version)
        self.touch()
        return False


def read_back(file: Path) -> pa.Table:
    match file.suffix:
        case ".csv":
            return pyarrow.csv.read_csv(file)
        case ".arrow":
            return pa.ipc.open_file(file).read_all()
    return pyarrow.parquet.read_table(file)


@pytest.mark.parametrize(("format", "sort"), [("csv", ""), ("arrow", ""), ("parquet", ""), ("parquet", "name:desc")])
def test_viewers_go_on_seeing_changes_while_a_large_table_is_exported(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: str, sort: str
) -> None:
    monkeypatch.setattr("tablecast.server.app.TRIM_SECONDS", 0.005)
    hub, seen = TickingHub(), list[float]()
    hub.flip(generation_of(1, MANY))
    with serving(hub) as url, dial(url) as viewer:
        say(viewer, "login", key=KEY)
        say(viewer, "open", sub=1, request=1, table="users", offset=0, size=1)
        while hear(viewer)["type"] != "frame":
            pass
        exported: list[httpx.Response] = []
        options: dict[str, Any] = {"params": {"format": format, "sort": sort}, "headers": BEARER, "timeout": 60}
        exporting = threading.Thread(target=lambda: exported.append(httpx.get(url + EXPORT, **options)))
        exporting.start()
        while exporting.is_alive() or len(seen) < 2:
            assert hear(viewer)["rows"]
            seen.append(time.monotonic())
    assert len(seen) >= 5
    assert max(after - before for before, after in pairwise(seen)) < 0.5
    assert exported[0].headers["tablecast-rows"] == str(MANY)
    file = tmp_path / f"users.{format}"
    file.write_bytes(exported[0].content)
    names = [f"row {index}" for index in range(MANY)]
    whole = read_back(file)
    assert whole.column("name").to_pylist() == (sorted(names, reverse=True) if sort else names)
    changed = dict(zip(whole.column("name").to_pylist(), whole.column("n").to_pylist(), strict=True)).pop("row 0")
    assert set(whole.column("n").to_pylist()) == {1, changed}
    with duckdb.connect() as database:
        source = "whole" if format == "arrow" else f"'{file}'"
        query = f"select count(*), count(distinct name), sum(n) from {source}"  # noqa: S608 - a path of our own
        assert database.execute(query).fetchone() == (MANY, MANY, MANY - 1 + changed)


def test_a_desk_is_given_back_however_it_ends() -> None:
    desks = Desks(1)
    with desks.taken():
        with pytest.raises(ExportsTooMany, match="1 exports at once"), desks.taken():
            pass
        assert desks.busy == 1
    assert desks.busy == 0
    with pytest.raises(RuntimeError), desks.taken():
        raise RuntimeError
    assert desks.busy == 0


def test_pieces_are_made_one_by_one_and_not_after_the_client_is_gone() -> None:
    made: list[int] = []
    ended: list[str] = []

    def pieces() -> Iterator[bytes]:
        for number in range(10):
            made.append(number)
            yield b"x"

    async def scenario() -> None:
        gone = asyncio.Event()
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)
            assert len(made) == len(sent) - 1
            if len(sent) == 3:
                gone.set()
                await asyncio.sleep(0)

        await Download(pieces(), {}, "text/csv", 5, lambda: ended.append("left"))({"type": "http"}, receive, send)
        assert [message.get("more_body") for message in sent] == [None, True, True]

    asyncio.run(scenario())
    assert (made, ended) == ([0, 1], ["left"])
