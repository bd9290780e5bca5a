"""The user's control topic is read on, whatever Kafka says in between, and nothing is read twice."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from tablecast.kafka.admin import Topic
from tablecast.kafka.control import ID_HEADER, MOST_ID
from tablecast.kafka.status import COPIED_KEY, Copied, decode_copied
from tablecast.orchestrator import copier as module
from tablecast.orchestrator.copier import MOST_BYTES, Copier
from tablecast.orchestrator.ledger import Record
from tablecast.settings import KafkaSettings

PATIENCE = 10.0
OURS = Topic("control", "ours", (0,))


def message(offset: int, partition: int = 0, value: bytes | None = None, id: bytes | None = None) -> Message:
    headers = [] if id is None else [(ID_HEADER, id)]
    text = f"m{offset}".encode() if value is None else value
    given = SimpleNamespace(error=lambda: None, partition=lambda: partition, offset=lambda: offset, headers=lambda: headers, value=lambda: text)
    return cast("Message", given)


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


class ScriptedKafka:
    """What the user's Kafka has under the name of the control topic: the topics in turn, the last one for ever."""

    def __init__(self) -> None:
        self.consumers: list[ScriptedConsumer] = []
        """Used one after another."""
        self.found = [Topic("control", "theirs", (0,))]
        self.begins = {0: 0}
        self._used = iter(self.consumers)

    def find(self, _: str) -> Topic:
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]

    def begin_offsets(self, _: str) -> dict[int, int]:
        return self.begins

    def make_consumer(self, *_: object) -> ScriptedConsumer:
        return next(self._used)


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> ScriptedKafka:
    given = ScriptedKafka()
    monkeypatch.setattr(module, "make_consumer", given.make_consumer)
    monkeypatch.setattr(module, "Topics", lambda *_: given)
    monkeypatch.setattr(module, "WATCH_SECONDS", 0.0)
    return given


def copying(known: Copied | None = None) -> Copier:
    copier = Copier(cast("Any", KafkaSettings), "control", "t", OURS, known)
    copier.start()
    return copier


def end(copier: Copier) -> None:
    """It is over before the script is taken away from it."""
    copier.stop()
    copier._thread.join(PATIENCE)
    assert not copier._thread.is_alive()


def copied(copier: Copier, count: int) -> list[Record]:
    records: list[Record] = []
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.01)):
        records += copier.taken()
        if sum(record.topic == "t.control" for record in records) >= count:
            return records
        pause.wait(0.01)
    raise AssertionError(records)


def values(records: list[Record]) -> list[bytes | None]:
    return [record.value for record in records if record.topic == "t.control"]


def how_far(records: list[Record]) -> Copied:
    return decode_copied([record.value or b"" for record in records if (record.topic, record.key) == ("t.status", COPIED_KEY)][-1])


def test_an_error_does_not_end_the_reading(kafka: ScriptedKafka, caplog: pytest.LogCaptureFixture) -> None:
    broken = KafkaException(KafkaError(KafkaError._FAIL, "it broke"))
    consumers = kafka.consumers
    consumers += [ScriptedConsumer([message(3), broken]), ScriptedConsumer([broken]), ScriptedConsumer([message(4)])]
    copier = copying(Copied("theirs", {0: 3}))
    records = copied(copier, 2)
    assert values(records) == [b"m3", b"m4"]
    assert how_far(records) == Copied("theirs", {0: 5})
    end(copier)
    assert consumers[2].closed.wait(PATIENCE)
    assert [consumer.assigned[0].offset for consumer in consumers] == [3, 4, 4]
    assert sum("it broke" in line for line in caplog.messages) == 1


def test_a_topic_of_more_partitions_is_read_with_all_of_them(kafka: ScriptedKafka) -> None:
    wider = Topic("control", "theirs", (0, 1))
    kafka.found = [kafka.found[0], wider]
    kafka.consumers += [ScriptedConsumer([message(0)]), ScriptedConsumer([message(5, partition=1)])]
    copier = copying()
    assert how_far(copied(copier, 2)) == Copied("theirs", {0: 1, 1: 6})
    end(copier)
    assert [place.offset for place in kafka.consumers[1].assigned] == [1, 0]


def test_another_topic_under_its_name_is_read_from_its_beginning(kafka: ScriptedKafka) -> None:
    """It was created anew, or the setting names another one: places of one topic mean nothing in another."""
    kafka.found = [Topic("control", "another", (0,))]
    kafka.consumers.append(ScriptedConsumer([message(0)]))
    copier = copying(Copied("theirs", {0: 17}))
    assert how_far(copied(copier, 1)) == Copied("another", {0: 1})
    end(copier)
    assert kafka.consumers[0].assigned[0].offset == 0


def test_what_retention_has_deleted_is_not_asked_for(kafka: ScriptedKafka) -> None:
    kafka.begins = {0: 40}
    kafka.consumers.append(ScriptedConsumer([message(40)]))
    copier = copying(Copied("theirs", {0: 17}))
    copied(copier, 1)
    end(copier)
    assert kafka.consumers[0].assigned[0].offset == 40


def test_our_own_topic_is_not_copied_to_itself(kafka: ScriptedKafka) -> None:
    kafka.found = [OURS]
    copier = copying()
    copier._thread.join(PATIENCE)
    assert not copier._thread.is_alive()
    assert copier.taken() == []


def test_a_message_of_any_size_is_cut_to_one_that_can_be_written(kafka: ScriptedKafka) -> None:
    kafka.consumers.append(ScriptedConsumer([message(0, value=b"x" * 1_000_000, id=b"y" * 1_000_000)]))
    copier = copying()
    record, _ = copied(copier, 1)
    end(copier)
    assert len(record.value or b"") == MOST_BYTES
    assert record.headers == ((ID_HEADER, b"y" * MOST_ID),)
