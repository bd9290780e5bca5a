"""A hub with tables that a test fills by hand, and sessions that talk to it without a socket."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.hub import Hub
from tablecast.server.serve import Program, address, listen, uvicorn_config
from tablecast.server.session import Session
from tablecast.settings import ServerSettings

from .talking import KEY, Clock, Serving, Talk, TalkTo, generation_of


@pytest.fixture
def clock() -> Clock:
    return Clock()


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
        session = Session(hub, Gate(SecretStr(KEY)), ServerSettings(**settings), clock)
        hub.audience.add(session)
        talk = Talk(session)
        if login:
            talk.say("login", key=KEY)
        return talk

    return talk


@pytest.fixture
def serving() -> Serving:
    """A real server on a real port, without Kafka: `with serving(hub) as url`."""

    @contextmanager
    def run(hub: Hub, **settings: Any) -> Iterator[str]:
        chosen = ServerSettings(psk=SecretStr(KEY), **settings)
        listener = listen("127.0.0.1", 0)
        ready = threading.Event()
        config = uvicorn_config(create_app(hub, chosen, Gate(SecretStr(KEY))), chosen)
        program = Program(config, address("127.0.0.1", listener), lambda url: ready.set())
        thread = threading.Thread(target=program.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert ready.wait(10)
            yield address("127.0.0.1", listener)
        finally:
            program.should_exit = True
            thread.join(10)
            listener.close()
            assert not thread.is_alive()

    return run
