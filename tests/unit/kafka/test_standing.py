"""What stands on the status topic beside generations: how far the user's control topic is copied."""

from types import SimpleNamespace
from typing import cast

import pytest
from confluent_kafka import Message

from tablecast.kafka.standing import copied_of, statuses_of
from tablecast.kafka.status import COPIED_KEY, PULSE_KEY, Copied, Pulse


def record(key: bytes, value: bytes | None) -> Message:
    return cast("Message", SimpleNamespace(key=lambda: key, value=lambda: value))


@pytest.mark.parametrize("foreign", [None, b"", b"\xff", b"[", b"[" * 5000, b"5", b'{"topic":"t","offsets":{"0":-1}}', b'{"offsets":{"0":1}}'])
def test_the_last_word_that_is_one_counts(foreign: bytes | None) -> None:
    told = [record(COPIED_KEY, Copied("t", {0: offset, 3: 1}).encode()) for offset in (1, 7)]
    pulse = record(PULSE_KEY, Pulse().encode())
    assert copied_of([*told, pulse, record(COPIED_KEY, foreign)]) == Copied("t", {0: 7, 3: 1})
    assert copied_of([record(COPIED_KEY, foreign), pulse]) is None
    assert statuses_of([*told, pulse]) == {}
