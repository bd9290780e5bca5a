"""The built page, served from the package."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tablecast.errors import PageMissing
from tablecast.server.answers import error_answer

PAGE = Path(__file__).parent / "page"

_HASHED = re.compile(r"[.-][A-Za-z0-9_]{8,}\.[a-z0-9]+$")
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class PageFiles(StaticFiles):
    """The files next to index.html. A name with a hash in it never changes its content, so a browser keeps it."""

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
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _FOREVER if _HASHED.search(path) else _ASK_AGAIN
        return response


class Index:
    """`/`: the page, asked for again at each visit; or why there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def answer(self, request: Request) -> Response:
        index = self._folder / "index.html"
        if not index.is_file():
            return error_answer(PageMissing(self._folder), 503)
        return FileResponse(index, headers={"cache-control": _ASK_AGAIN})
