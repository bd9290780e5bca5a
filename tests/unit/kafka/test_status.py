"""What is written on the status and servers' topics can be read again, by older and by newer readers too."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from tablecast.kafka.names import changelog_topic, control_topic, servers_topic, status_topic, system_changelog
from tablecast.kafka.status import (
    ColumnStatus,
    GenerationStatus,
    Pulse,
    ServerStatus,
    TableStatus,
    decode_pulse,
    decode_server,
    decode_status,
    told_time,
)

TABLES = {"users_ui": TableStatus("t.users_ui.g3", (ColumnStatus("userId", "string"),))}
STATUS = GenerationStatus(3, "live", {"users": "u"}, TABLES, {"user": "users_ui"}, "f", "2026-01-01T00:00:00.000Z")


def test_a_status_comes_back_as_it_was() -> None:
    full = msgspec.structs.replace(STATUS, ends={"t.users_ui.g3": 7}, join={"final_ui": "inner"}, requested="0-5", hydrated=1.5)
    assert decode_status(full.encode()) == full
    assert full.key() == b"3"


def test_a_status_of_before_the_swap_is_still_read() -> None:
    raw = msgspec.json.decode(STATUS.encode())
    for field in ("ends", "join", "requested", "hydrated"):
        raw.pop(field, None)
    assert decode_status(msgspec.json.encode(raw)) == STATUS


def test_a_pulse_says_who_leads() -> None:
    assert decode_pulse(Pulse(None, "me").encode()) == Pulse(None, "me")
    assert decode_pulse(b"{}") == Pulse(None, None)


def test_a_server_says_what_it_shows() -> None:
    status = ServerStatus("s1", 3, None, "2026-01-01T00:00:00.000Z")
    assert decode_server(status.encode()) == status
    assert status.key() == b"s1"


def test_times_are_told_in_utc_with_milliseconds() -> None:
    assert told_time(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000Z"
    assert told_time(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == "2026-01-01T00:00:00.000Z"


def test_topics_that_outlive_generations_never_look_like_one_of_a_generation() -> None:
    lasting = {status_topic("t"), servers_topic("t"), control_topic("t"), system_changelog("t", "control_raw")}
    assert lasting == {"t.status", "t.servers", "t.control", "t.control_raw"}
    assert changelog_topic("t", "control_raw", 1) not in lasting


HOSTILE_NAMES = ["../etc", 'x"; filename="y', "a\r\nset-cookie: x", "<img>", "a b", "", "1a", "ä", "a\n"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_status_with_a_name_that_no_table_can_have_is_none(name: str) -> None:
    """Names go into paths, headers, labels and file names."""
    column = (ColumnStatus("n", "string"),)
    for changed in (
        {"tables": {name: TableStatus("t.x.g3", column)}},
        {"tables": {"x": TableStatus("t.x.g3", (ColumnStatus(name, "string"),))}},
        {"tables": {"x": TableStatus(f"t/{name}", column)}},
        {"aliases": {name: "users_ui"}},
        {"aliases": {"user": name}},
    ):
        with pytest.raises(msgspec.DecodeError):
            decode_status(msgspec.structs.replace(STATUS, **changed).encode())


BROKEN = [b"", b"\xff", b"[" * 10_000, b'{"x":' * 10_000, b"5"]


@pytest.mark.parametrize(
    ("decode", "values"),
    [
        (decode_status, [*BROKEN, b'{"changed":"\xff"}', STATUS.encode().replace(b'"generation":3', b'"generation":-1')]),
        (decode_pulse, [*BROKEN, b'{"failing":"\xff"}']),
        (decode_server, [*BROKEN, b'{"server":"\xff"}']),
    ],
)
def test_what_is_none_of_ours_raises_one_error(decode: Callable[[bytes], object], values: list[bytes]) -> None:
    for value in values:
        with pytest.raises(msgspec.DecodeError):
            decode(value)


def test_a_table_has_no_two_columns_of_one_name() -> None:
    raw = STATUS.encode().replace(b'[{"name":"userId","type":"string"}]', b'[{"name":"a","type":"string"},{"name":"a","type":"int64"}]')
    with pytest.raises(msgspec.DecodeError, match="one name"):
        decode_status(raw)
