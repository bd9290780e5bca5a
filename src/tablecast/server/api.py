"""The HTTP paths that tell of tables."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import ExitStack, asynccontextmanager
from typing import TypeVar

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tablecast.catalog import Column
from tablecast.errors import BadView, BadWindow, ControlsTooMany, MessageTooLarge, NotReady, TablecastError, ViewerError
from tablecast.login_errors import NotOperator
from tablecast.server.answers import error_answer, json_answer, json_bytes
from tablecast.server.auth import Entry
from tablecast.server.builder import BUILD_ROWS
from tablecast.server.control import ControlDesk
from tablecast.server.download import Desks, Download
from tablecast.server.export import MEDIA_TYPES, ExportSpec, pieces
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.server.metrics import FeedFigures, exposition, feed_figures
from tablecast.server.openapi import openapi
from tablecast.server.source_topics import SourceTopics
from tablecast.server.typed_cells import with_sums
from tablecast.settings import ServerSettings
from tablecast.tables.condition import Condition, read_condition
from tablecast.tables.generation import Generation, SharedViewport
from tablecast.tables.group import Grouping, read_grouping
from tablecast.tables.instant import Instant
from tablecast.tables.row import Row
from tablecast.tables.view import SortKey, ViewSpec
from tablecast.tables.window import Window
from tablecast.wire.frames import rows_answer

T = TypeVar("T")
ENTRY = "tablecast.entry"
"""Where the scope of a request has the login that it came with."""
PAGE_ROWS = 300
COPY_ROWS = 5000
"""Rows that an export copies before others have their turn: less than a millisecond of work."""
VIEW_PARAMETERS = ("sort", "filter", "search", "group")
ROWS_PARAMETERS = ("offset", "size", *VIEW_PARAMETERS)
EXPORT_PARAMETERS = ("format", "formulas", *VIEW_PARAMETERS)
_DIRECTIONS = {"": False, "asc": False, "desc": True}


class Visit:
    """Looks through a viewport once."""

    def __init__(self) -> None:
        self.failed: ViewerError | None = None
        """Why there is nothing to look at any more."""

    def touched(self) -> None:
        pass

    def broken(self, error: ViewerError) -> None:
        self.failed = error

    def check(self) -> None:
        """Raises why there is nothing to look at, if there is not."""
        if self.failed is not None:
            raise self.failed


class Api:
    """Each method is one path."""

    def __init__(self, hub: Hub, settings: ServerSettings, feed: Feed | None, desk: ControlDesk | None, sources: SourceTopics | None) -> None:
        self._hub = hub
        self._settings = settings
        self._feed = feed
        self._desk = desk
        self._sources = sources
        self._desks = Desks(settings.exports)
        self._openapi = openapi(settings)

    async def description(self, request: Request) -> Response:
        read_query(request, ())
        return json_answer(self._openapi)

    async def tables(self, request: Request) -> Response:
        read_query(request, ())
        generation = self._hub.current()
        tables = [
            {"name": table.name, "columns": _columns(table.columns), "rows": len(table), "generation": generation.number}
            for table in generation.tables()
        ]
        return json_answer({"tables": tables, "aliases": generation.aliases})

    async def rows(self, request: Request) -> Response:
        query = read_query(request, ROWS_PARAMETERS)
        name, window = request.path_params["name"], read_window(query, self._settings.window_rows)
        async with self._seen(name, read_spec(query), window) as (generation, viewport):
            snapshot = self._look(viewport, SharedViewport.snapshot)
            head = {"table": name, "generation": generation.number, "total": snapshot.total, "offset": snapshot.offset}
            return json_bytes(rows_answer({**head, "columns": _columns(viewport.columns)}, snapshot.data))

    async def export(self, request: Request) -> Response:
        """The rows of one instant, whatever is swapped or changed while they are sent."""
        query = read_query(request, EXPORT_PARAMETERS)
        chosen, spec = ExportSpec.checked(query.get("format", "csv"), query.get("formulas", "keep")), read_spec(query)
        name = request.path_params["name"]
        with ExitStack() as stack:
            stack.enter_context(self._desks.taken())
            async with self._seen(name, spec, Window(0, 1), settled=True) as (generation, viewport):
                columns, rows = viewport.columns, await _copied(viewport, self._look(viewport, _all_rows))
            if spec.group is not None:
                columns = await asyncio.to_thread(with_sums, columns, rows)
            self._hub.counters.exports += 1
            headers = {
                "content-disposition": f'attachment; filename="{viewport.table.name}.{chosen.format}"',
                "tablecast-generation": str(generation.number),
                "tablecast-rows": str(len(rows)),
            }
            leave = stack.pop_all().close
        return Download(pieces(chosen, columns, rows), headers, MEDIA_TYPES[chosen.format], self._settings.stalled_seconds, leave)

    @asynccontextmanager
    async def _seen(self, name: str, spec: ViewSpec, window: Window, settled: bool = False) -> AsyncIterator[tuple[Generation, SharedViewport]]:
        """A viewport that is ready, of the generation that is shown at this moment; `settled`: to be looked at as a whole. Raises UnknownTable,
        BadView, or why the view has failed."""
        while True:
            generation = self._hub.current()
            self._hub.admit(name, spec)
            visit = Visit()
            viewport = generation.find(name).open(spec, window, visit)
            try:
                await self._hub.built(viewport)
                visit.check()
                while settled and self._hub.generation is generation and not self._look(viewport, _settle):
                    await asyncio.sleep(0)
                    visit.check()
                # While a view was built, the tables may have changed over: the old ones are not shown any more.
                if self._hub.generation is generation:
                    yield generation, viewport
                    return
            finally:
                viewport.release(visit)

    def _look(self, viewport: SharedViewport, look: Callable[[SharedViewport], T]) -> T:
        """Where the view fails it is broken off, and who asks is told what its viewers are told."""
        try:
            return look(viewport)
        except Exception as error:
            failed = self._hub.break_off(viewport, error)
        raise failed

    async def status(self, request: Request) -> Response:
        read_query(request, ())
        generation = self._hub.generation
        coming = self._feed.coming if self._feed is not None else None
        return json_answer(
            {
                "feed": {"state": self._hub.feed.state, "message": self._hub.feed.message},
                "generation": generation.number if generation else None,
                "reads": coming.number if coming else None,
                "generations": self._hub.statuses,
                "servers": self._feed.servers() if self._feed is not None else [],
            }
        )

    async def control(self, request: Request) -> Response:
        """202 with the id of the verdict, or 200 when there is nothing to change. Only for operators."""
        read_query(request, ())
        entry: Entry = request.scope[ENTRY]
        if entry.role != "operator":
            raise NotOperator
        if self._desk is None:
            raise NotReady("no control topic is known here")
        body = await _body(request, self._settings.message_bytes)
        try:
            id = await self._desk.take(body)
        except ControlsTooMany as error:
            answer = error_answer(error)
            answer.headers["retry-after"] = str(error.seconds)
            return answer
        except ViewerError:
            raise
        except TablecastError as error:
            return error_answer(error, 503)
        return json_answer({"verdict": "no_change"}) if id is None else json_answer({"id": id}, 202)

    async def topics(self, request: Request) -> Response:
        """What an operator can choose from."""
        read_query(request, ())
        if self._sources is None:
            raise NotReady("no source Kafka is known here")
        try:
            listed = await self._sources.listed()
        except TablecastError as error:
            return error_answer(error, 503)
        return json_answer({"topics": listed})

    async def metrics(self, request: Request) -> Response:
        read_query(request, ())
        figures = feed_figures(self._feed.shown, self._feed.coming) if self._feed is not None else FeedFigures()
        return PlainTextResponse(exposition(self._hub, figures), media_type="text/plain; version=0.0.4")

    async def healthz(self, request: Request) -> Response:
        return json_answer({"alive": True})

    async def readyz(self, request: Request) -> Response:
        """Ready from the first filled generation on: stale rows, said to be stale, are better than none. Strangers may ask, and learn nothing else:
        why it is not ready is told at /api/status."""
        if self._hub.generation is None:
            return error_answer(NotReady("they are being filled"))
        return json_answer({"ready": True})


def _settle(viewport: SharedViewport) -> bool:
    """Puts some rows in order, so that all can be looked at. Whether all are."""
    return viewport.table.settle(BUILD_ROWS) and viewport.source.build(BUILD_ROWS)


def _all_rows(viewport: SharedViewport) -> list[Row]:
    return viewport.source.rows(0, viewport.source.total)


async def _copied(viewport: SharedViewport, rows: list[Row]) -> list[bytes]:
    """What these rows of the view hold at this moment. Others have their turn while it is copied."""
    if viewport.spec.group is not None:
        return [row.data for row in rows]
    data: list[bytes] = []
    with Instant(viewport.table, rows) as instant:
        for part in instant.slices(COPY_ROWS):
            data += part
            await asyncio.sleep(0)
    return data


async def _body(request: Request, limit: int) -> bytes:
    """Raises MessageTooLarge as soon as there is too much of it."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise MessageTooLarge(len(body), limit)
    return body


def read_query(request: Request, known: Collection[str]) -> QueryParams:
    """The parameters. Raises BadView for one that is not known, which would be misread in silence, and for one that is given twice."""
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise BadView(f"there is no parameter {name[:40]!r}, or it is given twice", f"Parameters here: {', '.join(known) or 'none'}.")
    return request.query_params


def read_window(query: QueryParams, limit: int) -> Window:
    """Raises BadWindow."""
    return Window.checked(_number(query, "offset", 0), _number(query, "size", min(PAGE_ROWS, limit)), limit)


def read_spec(query: QueryParams) -> ViewSpec:
    """`sort=balance:desc,name:asc:de`, `filter` and `group` as JSON, `search` as text. Raises BadView."""
    sort = tuple(_sort_key(part) for part in query.get("sort", "").split(",") if part.strip())
    return ViewSpec(sort, _condition(query.get("filter")), query.get("search") or None, _grouping(query.get("group")))


def _grouping(text: str | None) -> Grouping | None:
    if not text:
        return None
    try:
        return read_grouping(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadView(f"the group is not JSON: {error}", "Send the group as URL-encoded JSON.") from None


def _condition(text: str | None) -> Condition | None:
    if not text:
        return None
    try:
        return read_condition(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadView(f"the filter is not JSON: {error}", "Send the condition as URL-encoded JSON.") from None


def _sort_key(text: str) -> SortKey:
    column, _, how = text.strip().partition(":")
    direction, _, locale = how.partition(":")
    if direction not in _DIRECTIONS:
        raise BadView(
            f"{direction[:40]!r} is not a direction of sorting", "Write column, column:asc, column:desc or column:asc:locale, with commas between."
        )
    return SortKey(column, _DIRECTIONS[direction], locale or None)


def _number(query: QueryParams, field: str, default: int) -> int:
    text = query.get(field)
    if text is None:
        return default
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        raise BadWindow(field, text, "a whole number")
    return int(text)


def _columns(columns: tuple[Column, ...]) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.type} for column in columns]
