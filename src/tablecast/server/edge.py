"""What every answer over HTTP says about itself, and who may ask from another page."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablecast.settings import ServerSettings

HSTS_SECONDS = 31_536_000
PREFLIGHT_SECONDS = 600
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FEATURES = ("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone", "midi", "payment", "usb")
_EXPOSED = ("content-disposition", "retry-after", "tablecast-generation", "tablecast-rows")


class Edge:
    """Puts the headers of security on every answer. No answer of ours sets a cookie: what a browser sends by itself lets nobody in."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        told = {**security_headers(settings), "cache-control": "no-store"}
        self._headers = [(name.encode(), value.encode()) for name, value in told.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name for name, _ in message["headers"]}
                message = {**message, "headers": [*message["headers"], *(each for each in self._headers if each[0] not in there)]}
            await send(message)

        await self._app(scope, receive, told)


def security_headers(settings: ServerSettings) -> dict[str, str]:
    headers = {
        "content-security-policy": content_policy(settings),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": ", ".join(f"{feature}=()" for feature in _FEATURES),
        "cross-origin-resource-policy": "same-origin",
    }
    if not settings.frame_ancestors:
        headers["x-frame-options"] = "DENY"
    if settings.tls_certificate is not None:
        headers["strict-transport-security"] = f"max-age={HSTS_SECONDS}"
        # Over plain HTTP a browser ignores it, and complains of that.
        headers["cross-origin-opener-policy"] = "same-origin"
    return headers


def content_policy(settings: ServerSettings) -> str:
    """The page needs its own files and its own server, and no script or style that stands inside the document."""
    servers = [server for origin in settings.page_servers for server in (origin, origin.replace("http", "ws", 1))]
    ancestors = ["'self'" if ancestor == "self" else ancestor for ancestor in settings.frame_ancestors]
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'", *servers],
        "base-uri": ["'self'"],
        "form-action": ["'none'"],
        "frame-ancestors": ancestors or ["'none'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["angular", "angular#bundler"],
    }
    return "; ".join(" ".join([name, *sources]) for name, sources in rules.items())


def cross_origin(settings: ServerSettings) -> list[Middleware]:
    """Lets pages of the origins in the settings ask; without any, a browser lets no other page see an answer."""
    if not settings.origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=list(_EXPOSED),
            max_age=PREFLIGHT_SECONDS,
        )
    ]


def is_allowed(origin: str | None, host: str | None, origins: Sequence[str]) -> bool:
    """Whether a page of this origin may open a socket here: one that came from this host, or that the settings name. Programs send no origin."""
    if origin is None or origin in origins:
        return True
    try:
        page = urlsplit(origin)
        here = urlsplit(f"//{host or ''}")
        usual = _DEFAULT_PORTS.get(page.scheme)
        return bool(page.hostname) and (page.hostname, page.port or usual) == (here.hostname, here.port or usual)
    except ValueError:
        return False
