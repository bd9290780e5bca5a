"""The description of the HTTP paths against the server itself, by schemathesis."""

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from pydantic import SecretStr
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.control import ControlDesk
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.server.source_topics import SourceTopics
from tablecast.settings import ServerSettings

from .talking import KEY, generation_of

BEARER = {"authorization": f"Bearer {KEY}"}

Case = schemathesis.Case[Any]


def make_app() -> Starlette:
    hub = Hub()
    hub.flip(generation_of(1, 10))
    hub.say("live")
    desk, sources = ControlDesk(hub, lambda message: "id"), SourceTopics(lambda: {"users": 3})
    return create_app(hub, ServerSettings(), Gate(Keys(SecretStr(KEY))), desk=desk, sources=sources, page=Path("no page"))


APP = make_app()
SCHEMA = schemathesis.openapi.from_asgi("/api/openapi.json", APP, headers=BEARER)


@SCHEMA.auth()
class Bearer:
    """The key, which schemathesis leaves out to see whether it is asked for."""

    def get(self, case: Case, context: schemathesis.AuthContext) -> str:
        return KEY

    def set(self, case: Case, data: str, context: schemathesis.AuthContext) -> None:
        case.headers["authorization"] = f"Bearer {data}"


@SCHEMA.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
def test_every_path_answers_as_it_is_described(case: Case) -> None:
    """All checks but one: which columns a table has is not in the description, so a well-formed sort or filter may be refused."""
    case.call_and_validate(excluded_checks=[positive_data_acceptance])


def test_every_path_of_the_server_is_described() -> None:
    mounted = [(mount.path, route) for mount in APP.routes if isinstance(mount, Mount) and mount.routes for route in mount.routes]
    paths = {prefix + route.path for prefix, route in mounted if isinstance(route, Route)}
    paths |= {route.path for route in APP.routes if isinstance(route, Route)} - {"/"}
    assert paths == set(SCHEMA.raw_schema["paths"])
