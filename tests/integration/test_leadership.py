"""One orchestrator leads: whoever takes the lead fences who had it, and what belongs together is written together or not at all."""

import re
import threading
from collections.abc import Callable

import pytest

from tablecast.errors import LeadLost, TopicMissing
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.standing import standing
from tablecast.kafka.status import GenerationStatus, Pulse
from tablecast.orchestrator.board import REMEMBERED, StatusBoard
from tablecast.orchestrator.lease import LeaseWatch
from tablecast.orchestrator.ledger import Record
from tablecast.processes.exit_codes import LEAD_LOST, exit_code
from tablecast.settings import Settings

PATIENCE = 30.0


@pytest.fixture
def settings(topic_name: Callable[[str], str]) -> Settings:
    return Settings().replaced("changelog", prefix=topic_name("prefix")[-60:].strip("-"))


def leading(broker: EmbeddedBroker, settings: Settings, name: str) -> StatusBoard:
    board = StatusBoard(broker.kafka, settings)
    board.lead(name, threading.Event())
    return board


def status(generation: int, state: str = "live") -> GenerationStatus:
    return GenerationStatus(generation, state, {}, {}, {}, "f", "2026-01-01T00:00:00.000Z")  # type: ignore[arg-type]


def test_a_paused_leader_is_fenced_when_it_wakes(broker: EmbeddedBroker, settings: Settings) -> None:
    paused = leading(broker, settings, "one")
    paused.announce(status(1))
    other = leading(broker, settings, "two")
    assert other.generations == {1: status(1)}
    other.announce(status(2))
    with pytest.raises(LeadLost, match="Another orchestrator has taken over") as caught:
        paused.announce(status(1, "retired"), beside=[Record(paused.topic, b"3", status(3).encode())])
    assert exit_code(caught.value) == LEAD_LOST
    paused.beat(Pulse())
    assert paused.ledger.lost is caught.value
    assert StatusBoard(broker.kafka, settings).generations == {1: status(1), 2: status(2)}


def test_a_topic_that_was_deleted_is_told_instead_of_waited_for(broker: EmbeddedBroker, settings: Settings) -> None:
    board = leading(broker, settings, "one")
    board.announce(status(1))
    Topics(broker.kafka).delete([board.topic])
    with pytest.raises(TopicMissing, match=re.escape(board.topic)):
        board.announce(status(2))


def test_a_newcomer_waits_for_the_pulse_to_end(broker: EmbeddedBroker, settings: Settings) -> None:
    board = leading(broker, settings, "one")
    board.beat(Pulse())
    watch = LeaseWatch(broker.kafka, board.topic)
    watch.start()
    stop = threading.Event()
    try:
        waited = 0.0
        while watch.lease.leader != "one":
            assert not stop.wait(0.05)
            waited += 0.05
            assert waited < PATIENCE
        assert not watch.is_free()
        board.give_up_lead()
        while not watch.is_free():
            assert not stop.wait(0.05)
            waited += 0.05
            assert waited < PATIENCE
    finally:
        watch.stop()


def test_of_the_generations_that_are_over_the_newest_are_remembered(broker: EmbeddedBroker, settings: Settings) -> None:
    board = leading(broker, settings, "one")
    for number in range(1, REMEMBERED + 6):
        board.announce(status(number, "retired"))
    board.announce(status(REMEMBERED + 6))
    known = StatusBoard(broker.kafka, settings)
    assert sorted(known.generations) == list(range(6, REMEMBERED + 7))
    assert known.next_number() == REMEMBERED + 7
    assert sum(1 for message in standing(broker.kafka, board.topic) if message.value() is None) == 5
