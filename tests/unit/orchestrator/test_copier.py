"""The user's control topic is read on, whatever Kafka says in between, and nothing is read twice."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from tablecast.orchestrator import copier as module
from tablecast.orchestrator.copier import Copier, copied_so_far
from tablecast.settings import KafkaSettings

PATIENCE = 10.0


def message(offset: int) -> Message:
    return cast(
        "Message",
        SimpleNamespace(error=lambda: None, partition=lambda: 0, offset=lambda: offset, headers=list, value=f"m{offset}".encode),
    )


class ScriptedConsumer:
    """Gives what the script says, one a poll, then nothing."""

    def __init__(self, script: list[Message | Exception]) -> None:
        self._script = script
        self.assigned: list[TopicPartition] = []
        self.closed = threading.Event()

    def assign(self, places: list[TopicPartition]) -> None:
        self.assigned = places

    def poll(self, _: float) -> Message | None:
        given = self._script.pop(0) if self._script else None
        if isinstance(given, Exception):
            raise given
        return given

    def consume(self, *_: object) -> list[Message]:
        return []

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def consumers(monkeypatch: pytest.MonkeyPatch) -> list[ScriptedConsumer]:
    """Used one after another."""
    given: list[ScriptedConsumer] = []
    left = iter(given)
    monkeypatch.setattr(module, "make_consumer", lambda *_: next(left))
    monkeypatch.setattr(module, "Topics", lambda *_: SimpleNamespace(partitions=lambda _: 1))
    return given


def copied(copier: Copier, count: int) -> list[bytes | None]:
    values: list[bytes | None] = []
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        values += [record.value for record in copier.taken()]
        if len(values) >= count:
            return values
        pause.wait(0.01)
    raise AssertionError(values)


def test_an_error_does_not_end_the_reading(consumers: list[ScriptedConsumer], caplog: pytest.LogCaptureFixture) -> None:
    broken = KafkaException(KafkaError(KafkaError._FAIL, "it broke"))
    consumers += [ScriptedConsumer([message(3), broken]), ScriptedConsumer([broken]), ScriptedConsumer([message(4)])]
    copier = Copier(cast("Any", KafkaSettings), "control", "ours", {0: 3})
    copier.start()
    assert copied(copier, 2) == [b"m3", b"m4"]
    copier.stop()
    assert consumers[2].closed.wait(PATIENCE)
    assert [consumer.assigned[0].offset for consumer in consumers] == [3, 4, 4]
    assert sum("it broke" in line for line in caplog.messages) == 1


@pytest.mark.parametrize("foreign", [b"", b"\xff", b"[", b"[" * 5000, b"5", b'{"0":-1}', b'{"zero":1}', b'{"0":1e99}', b'{"0":%d}' % 2**64])
def test_a_header_that_is_not_ours_says_nothing(foreign: bytes) -> None:
    def told(value: bytes) -> Message:
        return cast("Message", SimpleNamespace(headers=lambda: [("tablecast-copied", value)]))

    assert copied_so_far([told(b'{"0": 7, "3": 1}'), told(foreign)]) == {0: 7, 3: 1}
    assert copied_so_far([told(foreign)]) == {}
