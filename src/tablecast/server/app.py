"""The web application: paths, keys and errors."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tablecast.errors import ViewerError
from tablecast.login_errors import RequestsTooMany
from tablecast.server.answers import error_answer, on_crash, on_http_error, on_viewer_error
from tablecast.server.api import ENTRY, Api
from tablecast.server.auth import Gate, credential_in
from tablecast.server.connection import Reception
from tablecast.server.control import ControlDesk
from tablecast.server.counters import Counters
from tablecast.server.edge import Edge, cross_origin, security_headers
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.server.page import PAGE, Index, PageFiles
from tablecast.server.source_topics import SourceTopics
from tablecast.server.strangers import Strangers
from tablecast.settings import ServerSettings

TRIM_SECONDS = 1.0
_GUARDED = ("/api", "/metrics")

Chore = Callable[[], Coroutine[None, None, None]]
"""What is done in the background as long as the server runs."""


def create_app(
    hub: Hub,
    settings: ServerSettings,
    gate: Gate,
    feed: Feed | None = None,
    desk: ControlDesk | None = None,
    sources: SourceTopics | None = None,
    page: Path = PAGE,
) -> Starlette:
    """Without a feed it serves what the hub has, which is what tests want. Viewers' sockets are no part of it: `state.reception` takes them in.
    What `state.chores` holds when it starts runs along with it."""
    routes = _routes(Api(hub, settings, feed, desk, sources), page)
    reception = Reception(hub, gate, settings)
    guard = Middleware(LoginGuard, gate=gate, strangers=reception.strangers, counters=hub.counters)
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Edge, settings=settings), *cross_origin(settings), guard],
        exception_handlers={ViewerError: on_viewer_error, HTTPException: on_http_error, Exception: on_crash},
        lifespan=lambda app: _running(app, feed),
    )
    app.state.reception = reception
    app.state.headers = security_headers(settings)
    app.state.chores = [lambda: _trim(hub)]
    return app


def _routes(api: Api, page: Path) -> list[BaseRoute]:
    paths = [
        Route("/tables", api.tables),
        Route("/tables/{name}/rows", api.rows),
        Route("/tables/{name}/export", api.export),
        Route("/status", api.status),
        Route("/control", api.control, methods=["POST"]),
        Route("/topics", api.topics),
        Route("/openapi.json", api.description),
    ]
    return [
        Mount("/api", routes=paths),
        Route("/metrics", api.metrics),
        Route("/healthz", api.healthz),
        Route("/readyz", api.readyz),
        Route("/", Index(page).answer),
        Mount("/", PageFiles(page)),
    ]


class LoginGuard:
    """Nothing about tables is answered without a login, not even that a path does not exist. Who has none is answered only so often."""

    def __init__(self, app: ASGIApp, gate: Gate, strangers: Strangers, counters: Counters) -> None:
        self._app = app
        self._gate = gate
        self._strangers = strangers
        self._counters = counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check(scope)
            except ViewerError as error:
                self._counters.refused[error.code] += 1
                await _refusal(error, Headers(scope=scope))(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        """Raises what keeps this request out."""
        headers = Headers(scope=scope)
        client: tuple[str, int] | None = scope.get("client")
        address = self._strangers.addresses.of(client[0] if client else "", ",".join(headers.getlist("x-forwarded-for")))
        try:
            if scope["path"].startswith(_GUARDED):
                scope[ENTRY] = await self._gate.decide(credential_in(headers.get("authorization")), address)
                self._strangers.go(client)
                return
        except ViewerError:
            self._ask(address)
            raise
        self._ask(address)

    def _ask(self, address: str) -> None:
        if (seconds := self._strangers.ask(address)) > 0:
            raise RequestsTooMany(seconds)


def _refusal(error: ViewerError, headers: Headers) -> Response:
    """What may still come of the request's body is not waited for."""
    answer = error_answer(error)
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        answer.headers["connection"] = "close"
    return answer


@asynccontextmanager
async def _running(app: Starlette, feed: Feed | None) -> AsyncIterator[None]:
    chores = [asyncio.create_task(chore()) for chore in app.state.chores]
    try:
        async with feed.running() if feed is not None else nullcontext():
            yield
    finally:
        for chore in chores:
            chore.cancel()


async def _trim(hub: Hub) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        while hub.trim():
            await asyncio.sleep(0)
