"""H2: the old generation goes when nobody shows it any more, and not later than its patience lasts."""

import pytest

from tablecast.kafka.status import SERVER_GONE_SECONDS, ServerStatus
from tablecast.orchestrator.retirement import PATIENCE_SECONDS, Heard, is_replaced

AT = "2026-01-01T00:00:00.000Z"


def heard(shows: int | None, at: float) -> Heard:
    return Heard(ServerStatus("s", shows, None, AT), at)


@pytest.mark.parametrize(
    ("servers", "now", "replaced"),
    [
        ({}, 100.0, True),
        ({"a": heard(2, 99.0), "b": heard(2, 99.0)}, 100.0, True),
        ({"a": heard(2, 99.0), "b": heard(3, 99.0)}, 100.0, True),
        ({"a": heard(2, 99.0), "b": heard(1, 99.0)}, 100.0, False),
        ({"a": heard(None, 99.0)}, 100.0, False),
        ({"a": heard(1, 99.0 - SERVER_GONE_SECONDS)}, 100.0, True),
        ({"a": heard(1, 99.0 + PATIENCE_SECONDS)}, 100.0 + PATIENCE_SECONDS, True),
    ],
)
def test_it_is_replaced_when_every_server_that_is_heard_shows_the_new_one(servers: dict[str, Heard], now: float, replaced: bool) -> None:
    assert is_replaced(2, servers, since=100.0, now=now) is replaced
