"""The golden messages are the contract."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablecast.errors import MessageUnreadable
from tablecast.login_errors import LoginRefused
from tablecast.wire.messages import Error, Open, Sort, decode_server, decode_viewer, encode

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "protocol/golden/messages.json").read_text())


@pytest.mark.parametrize("message", [entry["message"] for entry in GOLDEN if entry["from"] == "viewer"], ids=lambda message: message["type"])
def test_viewer_messages_are_read(message: dict[str, Any]) -> None:
    read = msgspec.to_builtins(decode_viewer(json.dumps(message)))
    assert {name: read[name] for name in message} == {name: tuple(value) if name == "sort" else value for name, value in message.items()}


@pytest.mark.parametrize("message", [entry["message"] for entry in GOLDEN if entry["from"] == "server"], ids=lambda message: message["type"])
def test_server_messages_are_written(message: dict[str, Any]) -> None:
    assert json.loads(encode(decode_server(json.dumps(message)))) == message


def test_absent_shape_fields_mean_the_natural_view() -> None:
    message = decode_viewer('{"type":"open","sub":1,"request":1,"table":"t","offset":0,"size":9,"sort":[{"column":"a"}]}')
    assert message == Open(1, 1, "t", 0, 9, (Sort("a", False),), None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "malformed"),
        ("", "truncated"),
        ("[]", "object"),
        ("{}", "type"),
        ('{"type":"shout"}', "shout"),
        ('{"type":"frame"}', "frame"),
        ('{"type":"close"}', "sub"),
        ('{"type":"close","sub":"1"}', "int"),
        ('{"type":"close","sub":0}', ">= 1"),
        ('{"type":"close","sub":true}', "int"),
        ('{"type":"ping","id":10000000000000000000000000}', "<= 9007199254740992"),
        ('{"type":"open","sub":1,"request":1,"table":"t","offset":0.5,"size":9}', "offset"),
        ('{"type":"open","sub":1,"request":1,"table":"t","offset":0,"size":9,"filter":"age > 5"}', "filter"),
        ('{"type":"open","sub":1,"request":1,"table":"t","offset":0,"size":9,"filter":' + '{"of":' * 5000, "recursion"),
    ],
)
def test_what_is_not_of_the_protocol_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(MessageUnreadable, match=f"(?i){reason}"):
        decode_viewer(text)


def test_an_error_says_what_it_is_about() -> None:
    assert json.loads(encode(Error.of(LoginRefused(), 4))) == {
        "type": "error",
        "code": "wrong_key",
        "message": "The key is not the one of this server.",
        "hint": "Ask the operator for the pre-shared key (server.psk).",
        "sub": 4,
    }
    assert "sub" not in json.loads(encode(Error.of(LoginRefused())))


def test_a_reason_does_not_tell_a_long_message_again() -> None:
    with pytest.raises(MessageUnreadable) as refused:
        decode_viewer(json.dumps({"type": "x" * 60_000}))
    assert len(str(refused.value)) < 500
