"""The web application: paths, keys and errors."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tablecast.errors import ViewerError
from tablecast.server.answers import error_answer, on_crash, on_http_error, on_viewer_error
from tablecast.server.api import Api
from tablecast.server.auth import Gate
from tablecast.server.connection import Reception
from tablecast.server.control import ControlDesk
from tablecast.server.feed import Feed
from tablecast.server.hub import Hub
from tablecast.server.page import PAGE, Index, PageFiles
from tablecast.server.source_topics import SourceTopics
from tablecast.settings import ServerSettings

TRIM_SECONDS = 1.0
_GUARDED = ("/api", "/metrics")


def create_app(
    hub: Hub,
    settings: ServerSettings,
    gate: Gate,
    feed: Feed | None = None,
    desk: ControlDesk | None = None,
    sources: SourceTopics | None = None,
    page: Path = PAGE,
) -> Starlette:
    """Without a feed it serves what the hub has, which is what tests want. Viewers' sockets are no part of it: `state.reception` takes them in."""
    api = Api(hub, settings, feed, desk, sources)
    paths = [
        Route("/tables", api.tables),
        Route("/tables/{name}/rows", api.rows),
        Route("/tables/{name}/export", api.export),
        Route("/status", api.status),
        Route("/control", api.control, methods=["POST"]),
        Route("/topics", api.topics),
        Route("/openapi.json", api.description),
    ]
    routes = [
        Mount("/api", routes=paths),
        Route("/metrics", api.metrics),
        Route("/healthz", api.healthz),
        Route("/readyz", api.readyz),
        Route("/", Index(page).answer),
        Mount("/", PageFiles(page)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(KeyRequired, gate=gate)],
        exception_handlers={ViewerError: on_viewer_error, HTTPException: on_http_error, Exception: on_crash},
        lifespan=lambda app: _running(hub, feed),
    )
    app.state.reception = Reception(hub, gate, settings)
    return app


class KeyRequired:
    """Nothing about tables is answered without the key, not even that a path does not exist."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_GUARDED):
            try:
                self._gate.check_header(Headers(scope=scope).get("authorization"))
            except ViewerError as error:
                await error_answer(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


@asynccontextmanager
async def _running(hub: Hub, feed: Feed | None) -> AsyncIterator[None]:
    trimming = asyncio.create_task(_trim(hub))
    try:
        async with feed.running() if feed is not None else nullcontext():
            yield
    finally:
        trimming.cancel()


async def _trim(hub: Hub) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        while hub.trim():
            await asyncio.sleep(0)
