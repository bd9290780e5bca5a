"""H3, H7 and the contract of POST /api/control."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from pydantic import SecretStr

from tablecast.catalog import Bound
from tablecast.errors import BrokerUnreachable, ControlUnreadable
from tablecast.kafka.control import CONTROL_COLUMNS, CONTROL_ROWS, CONTROL_TABLE
from tablecast.kafka.status import GenerationStatus, State
from tablecast.server.app import create_app
from tablecast.server.auth import Gate
from tablecast.server.control import BURST, UNANSWERED_SECONDS, ControlDesk, changes_nothing, read_control
from tablecast.server.hub import Hub
from tablecast.server.keys import Keys
from tablecast.settings import ServerSettings
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable

from .talking import KEY, Clock

LIVE = {"usersTopic": "u", "accountsTopic": "a", "joinType": "inner"}


def told(generation: int, state: State) -> GenerationStatus:
    topics = {"users": "u", "accounts": "a"}
    return GenerationStatus(generation, state, topics, {}, {}, "f", "2026-01-01T00:00:00Z", join={"final_ui": "inner"})


class Operator:
    """Posts to an application without a socket; what would go to Kafka is kept in `sent`."""

    def __init__(self, clock: Clock, page: Path) -> None:
        self.hub = Hub()
        self.hub.statuses = (told(1, "live"),)
        self.sent: list[dict[str, Any]] = []
        self.trouble: Exception | None = None
        settings = ServerSettings(message_bytes=2000)
        self._app = create_app(self.hub, settings, Gate(Keys(SecretStr(KEY))), desk=ControlDesk(self.hub, self._send, clock), page=page)

    def _send(self, message: bytes) -> str:
        if self.trouble is not None:
            raise self.trouble
        self.sent.append(json.loads(message))
        return f"id{len(self.sent)}"

    def post(self, body: object, key: str = KEY) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()

        async def ask() -> httpx.Response:
            headers = {"authorization": f"Bearer {key}"}
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url="http://server", headers=headers) as client:
                return await client.post("/api/control", content=content)

        return asyncio.run(ask())


@pytest.fixture
def operator(clock: Clock, tmp_path: Path) -> Operator:
    return Operator(clock, tmp_path)


def test_a_change_is_sent_and_answered_with_the_id_of_its_verdict(operator: Operator) -> None:
    answer = operator.post({"usersTopic": "users2", "accountsTopic": "a", "joinType": "left"})
    assert (answer.status_code, answer.json()) == (202, {"id": "id1"})
    answer = operator.post({"topics": {"users": "users2", "accounts": "a"}})
    assert (answer.status_code, answer.json()) == (202, {"id": "id2"})
    both = {"usersTopic": "users2", "accountsTopic": "a"}
    assert operator.sent == [{**both, "joinType": "left"}, both]


def test_what_changes_nothing_is_not_sent(operator: Operator, clock: Clock) -> None:
    answer = operator.post({"UsersTopic": " u ", "accountsTopic": "a", "joinType": "INNER"})
    assert (answer.status_code, answer.json(), operator.sent) == (200, {"verdict": "no_change"}, [])
    assert operator.post({**LIVE, "usersTopic": "other"}).status_code == 202
    assert operator.post(LIVE).status_code == 202, "a message on its way may change what is live"
    clock.now += UNANSWERED_SECONDS + 1
    assert operator.post(LIVE).status_code == 200


def test_while_anybodys_message_has_no_verdict_what_is_live_is_sent_too(operator: Operator, clock: Clock) -> None:
    """It may have come from the command line or from another server, and change what is live in a moment."""
    table = LiveTable(CONTROL_TABLE, CONTROL_COLUMNS, Bound(CONTROL_ROWS))
    operator.hub.flip(Generation(1, [table], {}))
    table.upsert(b"m1", b'{"verdict":"pending"}', b"1:0:0|1:0:0")
    assert operator.post(LIVE).status_code == 202
    clock.now += UNANSWERED_SECONDS + 1
    assert operator.post(LIVE).status_code == 202, "however long it takes"
    clock.now += UNANSWERED_SECONDS + 1
    table.upsert(b"m1", b'{"verdict":"rejected"}', b"1:0:0|2:0:0")
    assert operator.post(LIVE).status_code == 200
    operator.hub.statuses = (told(1, "live"), told(2, "hydrating"))
    assert operator.post(LIVE).status_code == 202, "another generation is on its way"


def test_a_dry_run_is_sent_and_after_it_what_is_live_still_says_what_will_be(operator: Operator) -> None:
    answer = operator.post({**LIVE, "usersTopic": "other", "dryRun": True})
    assert (answer.status_code, operator.sent) == (202, [{**LIVE, "usersTopic": "other", "dryRun": True}])
    assert operator.post(LIVE).json() == {"verdict": "no_change"}
    assert operator.post({**LIVE, "dryRun": True}).json() == {"verdict": "no_change"}


@pytest.mark.parametrize(
    "fields",
    [{}, {**LIVE, "joinType": "left"}, {**LIVE, "joinType": 7}, {"usersTopic": "u"}, {**LIVE, "moreTopic": "m"}, {**LIVE, "usersTopic": None}],
)
def test_in_doubt_a_message_is_sent(fields: dict[str, Any]) -> None:
    assert not changes_nothing(fields, (told(1, "live"),))
    assert not changes_nothing(LIVE, ())
    assert not changes_nothing(LIVE, (msgspec.structs.replace(told(1, "live"), error="it cannot go on"),)), "asked for again, it is built anew"


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff", b'{"topics": 1}', b'{"topics": {"users": 2}}', b"[" * 1500])
def test_what_is_no_object_is_refused(operator: Operator, body: bytes) -> None:
    answer = operator.post(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_control")
    assert set(answer.json()["error"]) == {"code", "message", "hint"}
    with pytest.raises(ControlUnreadable):
        read_control(body)


@pytest.mark.parametrize("depth", [200, 700, 900, 950, 990])
def test_however_deep_a_field_is_nested_it_is_sent_or_refused(operator: Operator, depth: int) -> None:
    answer = operator.post(b'{"usersTopic": ' + b"[" * depth + b"]" * depth + b"}")
    assert answer.status_code in (202, 400)


def test_a_large_body_a_wrong_key_and_a_broker_that_is_away(operator: Operator) -> None:
    assert operator.post(b" " * 2001).json()["error"]["code"] == "message_too_large"
    assert operator.post(LIVE, key="wrong").status_code == 401
    operator.trouble = BrokerUnreachable("changelog", "localhost:1", "refused")
    answer = operator.post({**LIVE, "usersTopic": "other"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "broker_unreachable")


def test_messages_are_throttled(operator: Operator, clock: Clock) -> None:
    change = {**LIVE, "usersTopic": "other"}
    assert [operator.post(change).status_code for _ in range(BURST)] == [202] * BURST
    answer = operator.post(change)
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["error"]["code"]) == (429, "1", "too_many_controls")
    clock.now += 1
    assert [operator.post(change).status_code for _ in range(2)] == [202, 429]
