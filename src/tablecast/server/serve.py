"""The table server as a program."""

import asyncio
import errno
import logging
import resource
import socket
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn
from pydantic import SecretStr
from starlette.applications import Starlette

from tablecast.errors import ConfigurationError, PortInUse, Problem
from tablecast.kafka.control import send_control
from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.connection import Reception
from tablecast.server.control import ControlDesk
from tablecast.server.door import Door
from tablecast.server.exposure import check_exposure
from tablecast.server.feed import Feed
from tablecast.server.fresh_files import follow
from tablecast.server.http_socket import HttpSocket
from tablecast.server.hub import Hub
from tablecast.server.key_set import KeySet, provider_keys
from tablecast.server.keys import KeyFiles, Keys
from tablecast.server.source_topics import source_topics
from tablecast.server.strangers import Client, together
from tablecast.server.tls import Certificate
from tablecast.server.tokens import Tokens
from tablecast.server.viewer_socket import ViewerSocket
from tablecast.settings import KafkaSettings, ServerSettings, Settings
from tablecast.tables.dismantler import give_back_large_at_once

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.0005
OTHER_FILES = 500
"""Files and connections that are neither viewers nor strangers: brokers, downloads, requests."""
SOON = timedelta(days=7)
"""A certificate that ends by then is warned of."""

OnReady = Callable[[str], None]


def serve(settings: Settings, changelog: KafkaSettings, on_ready: OnReady | None = None, secret_files: Mapping[str, Path] | None = None) -> int:
    """Serves until SIGTERM or SIGINT, and then ends within about two seconds. `on_ready` gets the address once it is listened on. Keys that came from
    `secret_files` are taken anew when these change. Returns how many signals asked for the end.

    Raises PortInUse or ConfigurationError before anything is started.
    """
    check_exposure(settings.server)
    # While a generation is filled in a thread, viewers of the one before must not wait 5 ms for each of their turns.
    sys.setswitchinterval(SWITCH_SECONDS)
    give_back_large_at_once()
    allow_files(settings.server.sessions + together(settings.server) + OTHER_FILES)
    listener = listen(settings.server.host, settings.server.port)
    try:
        program = make_program(settings, changelog, listener, on_ready, secret_files)
        program.run(sockets=[listener])
        return program.asked
    finally:
        listener.close()


def make_program(
    settings: Settings,
    changelog: KafkaSettings,
    listener: socket.socket,
    on_ready: OnReady | None = None,
    secret_files: Mapping[str, Path] | None = None,
) -> "Program":
    """Raises ConfigurationError."""
    server = settings.server
    check_exposure(server)
    certificate = Certificate(server.tls_certificate, server.tls_key) if server.tls_certificate is not None else None
    hub = Hub(server.views)
    prefix = settings.changelog.prefix
    desk = ControlDesk(hub, lambda message: send_control(changelog, prefix, message))
    gate = make_gate(server)
    app = create_app(hub, server, gate, Feed(changelog, prefix, hub, server.view_groups), desk, source_topics(settings))
    follow_keys(app, gate.keys, KeyFiles(server, secret_files or {}))
    return Program(uvicorn_config(app, server, certificate), address(server.host, listener, certificate is not None), on_ready)


def make_gate(settings: ServerSettings) -> Gate:
    """As the settings say who is let in. Raises ConfigurationError."""
    try:
        tokens = Tokens(settings.oidc, KeySet(provider_keys(settings.oidc))) if settings.oidc is not None else None
    except OSError as error:
        got = f"{settings.oidc.ca if settings.oidc else None} ({error})"
        raise ConfigurationError([Problem("server.oidc.ca", "needed by the server", got, "a PEM file of certificates")]) from error
    return Gate(Keys(settings.psk, settings.operator_psk), tokens)


def follow_keys(app: Starlette, keys: Keys, files: KeyFiles) -> None:
    """Lets a running server take keys from files that change; who came in with one that is gone goes too."""
    reception: Reception = app.state.reception

    def take(read: tuple[SecretStr | None, SecretStr | None]) -> None:
        keys.take(*read)
        reception.review()

    if files.paths:
        app.state.chores.append(lambda: follow("keys are", files.paths, files.read, take))


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


def address(host: str, listener: socket.socket, tls: bool = False) -> str:
    """Where a browser finds the server; an address that means all of them is told as this machine's own."""
    bound, port = listener.getsockname()[:2]
    shown = "localhost" if ip_address(bound).is_unspecified else f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"


def uvicorn_config(app: Starlette, settings: ServerSettings, certificate: Certificate | None = None) -> uvicorn.Config:
    reception: Reception = app.state.reception

    class Asking(HttpSocket):
        head_seconds = settings.login_seconds
        body_bytes = settings.message_bytes
        stalled_seconds = 2 * settings.stalled_seconds
        turnstile = reception.turnstile
        strangers = reception.strangers

    class Line(ViewerSocket):
        host = reception
        strangers = reception.strangers

    app.state.certificate = certificate
    if certificate is not None:
        _tell_of(certificate)
        app.state.chores.append(lambda: follow("certificate is", certificate.paths, certificate.read, certificate.take))
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=Asking,
        ws=Line,
        proxy_headers=False,
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


def _tell_of(certificate: Certificate) -> None:
    level = logging.WARNING if certificate.expires - datetime.now(UTC) < SOON else logging.INFO
    log.log(level, "[server] its certificate is valid until %s UTC", f"{certificate.expires:%Y-%m-%d %H:%M}", extra={"event": "certificate"})


class Program(uvicorn.Server):
    """Uvicorn's server, which has doors of ours, says when it listens and ends quietly on a signal."""

    def __init__(self, config: uvicorn.Config, url: str, on_ready: OnReady | None = None) -> None:
        super().__init__(config)
        self.asked = 0
        """Signals that asked for the end."""
        self._url = url
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        self.servers = [cast(asyncio.Server, self._door(listener)) for listener in sockets or []]
        log.info("[server] listens at %s", self._url, extra={"event": "listens", "url": self._url})
        if self._on_ready is not None:
            self._on_ready(self._url)

    def _door(self, listener: socket.socket) -> Door:
        config, state = self.config, cast(Starlette, self.config.app).state

        def make(client: Client) -> asyncio.Protocol:
            asking = cast(type[HttpSocket], config.http_protocol_class)(config, self.server_state, self.lifespan.state)
            asking.came_from = client
            return asking

        return Door(listener, make, state.reception.strangers, state.certificate, state.reception.login_seconds)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Nobody may be waiting at a listener that is closed."""
        for door in self.servers:
            door.close()
            await door.wait_closed()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Uvicorn would raise the signal again after a graceful end, and the program would seem to have crashed."""
        self.asked += 1
        self.force_exit = self.should_exit
        self.should_exit = True
