"""The built page, served from the package."""

import os
import re
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tablecast.errors import PageMissing
from tablecast.server.answers import error_answer

PAGE = Path(__file__).parent / "page"

_HASHED = re.compile(r"[.-][A-Za-z0-9_]{8,}\.[a-z0-9]+$")
_REFUSED = re.compile(r"q=0(\.0*)?")
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_TWINS = {"br": ".br", "gzip": ".gz"}
"""The build puts these next to the files, the smallest first: nothing is compressed here."""


class PageFiles(StaticFiles):
    """The files next to index.html, compressed where the browser takes that. A name with a hash in it never changes its content, so a browser
    keeps it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def check_config(self) -> None:
        """A page that is not built yet has no files; that is no mistake of ours."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        encoding = next((name for name in _accepted(scope) if self.lookup_path(path + _TWINS[name])[1] is not None), None)
        response = await super().get_response(path + _TWINS[encoding] if encoding else path, scope)
        response.headers["cache-control"] = _FOREVER if _HASHED.search(path) else _ASK_AGAIN
        response.headers["vary"] = "accept-encoding"
        if encoding is not None:
            response.headers["content-encoding"] = encoding
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """A path that no file can have is one that none has."""
        try:
            return super().lookup_path(path)
        except (OSError, ValueError):
            return "", None


def _accepted(scope: Scope) -> list[str]:
    """The encodings of twins that the asking side takes."""
    wanted = [part.strip().lower().partition(";") for part in Headers(scope=scope).get("accept-encoding", "").split(",")]
    taken = {name.strip() for name, _, weight in wanted if not _REFUSED.fullmatch(weight.strip())}
    return [name for name in _TWINS if name in taken]


class Index:
    """`/`: the page, asked for again at each visit; or why there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def answer(self, request: Request) -> Response:
        index = self._folder / "index.html"
        if not index.is_file():
            return error_answer(PageMissing(self._folder), 503)
        return FileResponse(index, headers={"cache-control": _ASK_AGAIN})
