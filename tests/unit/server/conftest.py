"""A hub with tables that a test fills by hand, and sessions that talk to it without a socket."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.control import ControlDesk
from tablecast.server.hub import Hub
from tablecast.server.keys import KeyFiles, Keys
from tablecast.server.serve import Program, address, follow_keys, listen, uvicorn_config
from tablecast.server.session import Session
from tablecast.server.tls import Certificate
from tablecast.settings import ServerSettings
from tests.token_server import TokenServer

from .talking import BEARER, KEY, Browser, Client, Clock, Serving, Talk, TalkTo, generation_of


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def provider() -> TokenServer:
    """An OpenID provider that does not listen: its tokens are enough."""
    return TokenServer()


@pytest.fixture
def hub() -> Hub:
    """Generation 1 with the table users (also called user) of ten rows."""
    hub = Hub()
    hub.flip(generation_of(1, 10))
    hub.say("live")
    return hub


@pytest.fixture
def talk_to(clock: Clock) -> TalkTo:
    def talk(hub: Hub, login: bool = True, **settings: Any) -> Talk:
        session = Session(hub, Gate(Keys(SecretStr(KEY))), ServerSettings(**settings), clock=clock)
        hub.audience.add(session)
        talk = Talk(session)
        if login:
            talk.say("login", key=KEY)
        return talk

    return talk


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Who asks a server of its own, with the key unless told otherwise."""

    def make(hub: Hub, key: bool = True, page: Path = tmp_path / "no page", desk: ControlDesk | None = None, **settings: Any) -> Browser:
        app = create_app(hub, ServerSettings.model_validate(settings), Gate(Keys(SecretStr(KEY))), desk=desk, page=page)
        return Browser(app, BEARER if key else {})

    return make


@pytest.fixture
def serving() -> Serving:
    """A real server on a real port, without Kafka: `with serving(hub) as url`. Speaks TLS with a `certificate`, and follows `key_files`."""

    @contextmanager
    def run(
        hub: Hub,
        gate: Gate | None = None,
        certificate: Certificate | None = None,
        key_files: KeyFiles | None = None,
        desk: ControlDesk | None = None,
        **settings: Any,
    ) -> Iterator[str]:
        chosen = ServerSettings.model_validate({"psk": KEY, **settings})
        listener = listen("127.0.0.1", 0)
        ready = threading.Event()
        gate = gate or Gate(Keys(SecretStr(KEY)))
        app = create_app(hub, chosen, gate, desk=desk)
        if key_files is not None:
            follow_keys(app, gate.keys, key_files)
        config = uvicorn_config(app, chosen, certificate)
        url = address("127.0.0.1", listener, certificate is not None)
        program = Program(config, url, lambda url: ready.set())
        thread = threading.Thread(target=program.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert ready.wait(10)
            yield url
        finally:
            program.should_exit = True
            thread.join(10)
            listener.close()
            assert not thread.is_alive()

    return run
