"""HTTP answers. Every error has the same form, whoever raised it."""

import logging
from http import HTTPStatus

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tablecast.errors import NotFound, TablecastError, ViewerError

log = logging.getLogger(__name__)

_INTERNAL = ("internal", "Something broke in the server.", "Its log says what; please report it.")


def json_answer(content: object, status: int = 200) -> Response:
    return json_bytes(msgspec.json.encode(content), status)


def json_bytes(content: bytes, status: int = 200) -> Response:
    return Response(content, status, {"cache-control": "no-store"}, "application/json")


def error_answer(error: TablecastError, status: int | None = None) -> Response:
    if status is None:
        status = error.status if isinstance(error, ViewerError) else 500
    answer = _answer(error.code, error.message, error.hint, status)
    if status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    if (seconds := getattr(error, "retry_after", None)) is not None:
        answer.headers["retry-after"] = str(seconds)
    return answer


def raw_answer(error: ViewerError) -> bytes:
    """The same where no application answers, because nobody has come to the end of a request. The connection ends with it."""
    answer = error_answer(error)
    answer.headers["connection"] = "close"
    answer.headers["x-content-type-options"] = "nosniff"
    if error.transient and "retry-after" not in answer.headers:
        answer.headers["retry-after"] = "1"
    head = [f"HTTP/1.1 {answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode()]
    head += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*head, b"", bytes(answer.body)])


async def on_viewer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ViewerError)
    return error_answer(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """What the router refuses: no such path, or not with this method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return error_answer(NotFound(request.scope["path"]))
    hint = f"Only {(error.headers or {}).get('Allow', 'GET')} is served there." if error.status_code == 405 else ""
    answer = _answer(_code(error.detail), f"{request.method} {request.scope['path'][:100]} is refused: {error.detail}.", hint, error.status_code)
    answer.headers.update(error.headers or {})
    return answer


async def on_crash(request: Request, error: Exception) -> Response:
    # Not request.url: that one is put together from a header, and may itself be none.
    path = request.scope["path"]
    log.error("[server] %s %s failed", request.method, path, exc_info=error, extra={"event": "crash", "path": path})
    answer = _answer(*_INTERNAL, 500)
    # What puts these on other answers has crashed too.
    answer.headers.update(request.app.state.headers)
    return answer


def _code(detail: str) -> str:
    return detail.lower().replace(" ", "_")


def _answer(code: str, message: str, hint: str, status: int) -> Response:
    return json_answer({"error": {"code": code, "message": message, "hint": hint}}, status)
