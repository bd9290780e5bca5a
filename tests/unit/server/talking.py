"""A viewer without a socket, and tables that a test fills by hand."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import httpx
from starlette.applications import Starlette

from tablecast.catalog import Column
from tablecast.server.hub import Hub
from tablecast.server.session import Session
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable

KEY = "open sesame"
BEARER = {"authorization": f"Bearer {KEY}"}
COLUMNS = (Column("name", "string"), Column("n", "int64"))


class Clock:
    """Stands still unless it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Talk:
    """A viewer without a socket: says messages, and hears what the session would send."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def say(self, type: str, **fields: Any) -> list[dict[str, Any]]:
        self.session.receive(json.dumps({"type": type, **fields}))
        return self.hear()

    def hear(self) -> list[dict[str, Any]]:
        heard = []
        while messages := self.session.outbox.take():
            heard += [json.loads(message) for message in messages]
        return heard

    async def news(self) -> None:
        """Until there may be something to hear."""
        told = asyncio.Event()
        self.session.outbox.news = told.set
        await asyncio.wait_for(told.wait(), 5)


def generation_of(number: int, rows: int, columns: tuple[Column, ...] = COLUMNS, names: tuple[str, ...] = ("users",)) -> Generation:
    generation = Generation(number, [LiveTable(name, columns) for name in names], {"user": "users"})
    for table in generation.tables():
        for index in range(rows):
            put(table, index, number)
    return generation


def put(table: LiveTable, index: int, value: int, version: int = 0) -> None:
    data = json.dumps({"name": f"row {index}", "n": str(value)}).encode()
    table.upsert(b"0-%d" % index, data, b"1:0:%d|1:0:%d" % (index, version))


def table_of(hub: Hub, name: str = "users") -> LiveTable:
    return hub.current().find(name).table


class Browser:
    """Asks an application without a socket."""

    def __init__(self, app: Starlette, headers: dict[str, str]) -> None:
        self._app = app
        self._headers = headers

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://server", headers=self._headers) as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)


Client = Callable[..., Browser]
TalkTo = Callable[..., Talk]
Serving = Callable[..., AbstractContextManager[str]]
