"""The HTTP paths that tell of tables."""

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tablecast.catalog import Column
from tablecast.errors import BadView, BadWindow, ControlsTooMany, MessageTooLarge, NotReady, TablecastError, ViewerError
from tablecast.server.answers import error_answer, json_answer, json_bytes
from tablecast.server.control import ControlDesk
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.server.metrics import exposition
from tablecast.settings import ServerSettings
from tablecast.tables.condition import Condition, read_condition
from tablecast.tables.generation import SharedViewport
from tablecast.tables.view import SortKey, ViewSpec
from tablecast.tables.window import Window
from tablecast.wire.frames import rows_answer

PAGE_ROWS = 300
_DIRECTIONS = {"": False, "asc": False, "desc": True}


class Visit:
    """Looks through a viewport once."""

    def touched(self) -> None:
        pass


class Api:
    """Each method is one path."""

    def __init__(self, hub: Hub, settings: ServerSettings, feed: Feed | None, desk: ControlDesk | None) -> None:
        self._hub = hub
        self._settings = settings
        self._feed = feed
        self._desk = desk

    async def tables(self, request: Request) -> Response:
        generation = self._hub.current()
        tables = [
            {"name": table.name, "columns": _columns(table.columns), "rows": len(table), "generation": generation.number}
            for table in generation.tables()
        ]
        return json_answer({"tables": tables, "aliases": generation.aliases})

    async def rows(self, request: Request) -> Response:
        name = request.path_params["name"]
        spec, window = read_spec(request.query_params), read_window(request.query_params, self._settings.window_rows)
        while True:
            generation = self._hub.current()
            visit = Visit()
            viewport = generation.find(name).open(spec, window, visit)
            try:
                await self._hub.built(viewport)
                # While a view was built, the tables may have changed over: the old ones are not shown any more.
                if self._hub.generation is generation:
                    return _rows(name, generation.number, viewport)
            finally:
                viewport.release(visit)

    async def status(self, request: Request) -> Response:
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
        """202 with the id of the verdict, or 200 when there is nothing to change."""
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

    async def metrics(self, request: Request) -> Response:
        shown, coming = (self._feed.shown, self._feed.coming) if self._feed is not None else (None, None)
        lag, rejected = (shown.reader.lag, shown.follower.rejected) if shown is not None else (0, 0)
        reads = coming.number if coming is not None else None
        return PlainTextResponse(exposition(self._hub, lag, rejected, reads), media_type="text/plain; version=0.0.4")

    async def healthz(self, request: Request) -> Response:
        return json_answer({"alive": True})

    async def readyz(self, request: Request) -> Response:
        """Ready from the first filled generation on: stale rows, said to be stale, are better than none."""
        try:
            self._hub.current()
        except NotReady as error:
            return error_answer(error)
        return json_answer({"ready": True})


async def _body(request: Request, limit: int) -> bytes:
    """Raises MessageTooLarge as soon as there is too much of it."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise MessageTooLarge(len(body), limit)
    return body


def read_window(query: QueryParams, limit: int) -> Window:
    """Raises BadWindow."""
    return Window.checked(_number(query, "offset", 0), _number(query, "size", min(PAGE_ROWS, limit)), limit)


def read_spec(query: QueryParams) -> ViewSpec:
    """`sort=balance:desc,age`, `filter` as JSON, `search` as text. Raises BadView."""
    sort = tuple(_sort_key(part) for part in query.get("sort", "").split(",") if part.strip())
    return ViewSpec(sort, _condition(query.get("filter")), query.get("search") or None)


def _condition(text: str | None) -> Condition | None:
    if not text:
        return None
    try:
        return read_condition(msgspec.json.decode(text))
    except msgspec.DecodeError as error:
        raise BadView(f"the filter is not JSON: {error}", "Send the condition as URL-encoded JSON.") from None


def _sort_key(text: str) -> SortKey:
    column, _, direction = text.strip().partition(":")
    if direction not in _DIRECTIONS:
        raise BadView(f"{direction[:40]!r} is not a direction of sorting", "Write column, column:asc or column:desc, with commas between.")
    return SortKey(column, _DIRECTIONS[direction])


def _number(query: QueryParams, field: str, default: int) -> int:
    text = query.get(field)
    if text is None:
        return default
    if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20):
        raise BadWindow(field, text, "a whole number")
    return int(text)


def _columns(columns: tuple[Column, ...]) -> list[dict[str, str]]:
    return [{"name": column.name, "type": column.type} for column in columns]


def _rows(name: str, generation: int, viewport: SharedViewport) -> Response:
    snapshot = viewport.snapshot()
    head = {"table": name, "generation": generation, "total": snapshot.total, "offset": snapshot.offset, "columns": _columns(viewport.table.columns)}
    return json_bytes(rows_answer(head, snapshot.data))
