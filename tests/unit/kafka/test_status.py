"""What is written on the status and servers' topics can be read again, by older and by newer readers too."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec

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
