"""The table server as a program."""

import errno
import logging
import resource
import socket
import sys
from collections.abc import Callable
from ipaddress import ip_address
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from tablecast.errors import ConfigurationError, PortInUse, Problem
from tablecast.kafka.control import send_control
from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.connection import Reception
from tablecast.server.control import ControlDesk
from tablecast.server.feed import Feed
from tablecast.server.http_socket import HttpSocket
from tablecast.server.hub import Hub
from tablecast.server.source_topics import source_topics
from tablecast.server.viewer_socket import ViewerSocket
from tablecast.settings import KafkaSettings, ServerSettings, Settings
from tablecast.tables.dismantler import give_back_large_at_once

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.0005
OTHER_FILES = 500
"""Files and connections that are not viewers: brokers, downloads, requests."""

OnReady = Callable[[str], None]


def serve(settings: Settings, changelog: KafkaSettings, on_ready: OnReady | None = None) -> None:
    """Serves until SIGTERM or SIGINT, and then ends within about two seconds. `on_ready` gets the address once it is listened on.

    Raises PortInUse or ConfigurationError before anything is started.
    """
    # While a generation is filled in a thread, viewers of the one before must not wait 5 ms for each of their turns.
    sys.setswitchinterval(SWITCH_SECONDS)
    give_back_large_at_once()
    allow_files(settings.server.sessions + OTHER_FILES)
    listener = listen(settings.server.host, settings.server.port)
    try:
        make_program(settings, changelog, listener, on_ready).run(sockets=[listener])
    finally:
        listener.close()


def make_program(settings: Settings, changelog: KafkaSettings, listener: socket.socket, on_ready: OnReady | None = None) -> "Program":
    """Raises ConfigurationError."""
    if settings.server.psk is None:
        expected = "a key of at least 8 characters, best given as TABLECAST_SERVER_PSK"
        raise ConfigurationError([Problem("server.psk", "needed by the server", "nothing", expected)])
    hub = Hub(settings.server.views)
    prefix = settings.changelog.prefix
    desk = ControlDesk(hub, lambda message: send_control(changelog, prefix, message))
    app = create_app(hub, settings.server, Gate(settings.server.psk), Feed(changelog, prefix, hub), desk, source_topics(settings))
    return Program(uvicorn_config(app, settings.server), address(settings.server.host, listener), on_ready)


def allow_files(wanted: int) -> None:
    """Each viewer needs one; many systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        if most < wanted:
            log.warning("[server] this process may open %d files, and server.sessions needs %d: raise ulimit -n, or lower it", most, wanted)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket. Raises PortInUse; 0 takes any free port."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(place)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port, "server.port") from error
        raise
    listener.setblocking(False)
    return listener


def address(host: str, listener: socket.socket) -> str:
    """Where a browser finds the server; an address that means all of them is told as this machine's own."""
    bound, port = listener.getsockname()[:2]
    shown = "localhost" if ip_address(bound).is_unspecified else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def uvicorn_config(app: Starlette, settings: ServerSettings) -> uvicorn.Config:
    reception: Reception = app.state.reception

    class Door(HttpSocket):
        head_seconds = settings.login_seconds
        turnstile = reception.turnstile

    class Line(ViewerSocket):
        host = reception

    return uvicorn.Config(
        app,
        loop="uvloop",
        http=Door,
        ws=Line,
        ws_max_size=settings.message_bytes,
        ws_per_message_deflate=False,
        ws_ping_timeout=settings.stalled_seconds,
        log_config=None,
        # Its warnings are about what strangers send, a line for each: whoever likes could fill the disk with them.
        log_level=logging.ERROR,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


class Program(uvicorn.Server):
    """Uvicorn's server, which says when it listens and ends quietly on a signal."""

    def __init__(self, config: uvicorn.Config, url: str, on_ready: OnReady | None = None) -> None:
        super().__init__(config)
        self._url = url
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        log.info("[server] listens at %s", self._url, extra={"event": "listens", "url": self._url})
        if self._on_ready is not None:
            self._on_ready(self._url)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Uvicorn would raise the signal again after a graceful end, and the program would seem to have crashed."""
        self.force_exit = self.should_exit
        self.should_exit = True
