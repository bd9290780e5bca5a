"""Which records of a bounded changelog are still needed."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablecast.catalog import Bound
from tablecast.kafka.changelog import VERSION_HEADER
from tablecast.orchestrator import trim as module
from tablecast.orchestrator.trim import BoundedChangelog, Trimmer

NOW = 1_700_000_000_000


def test_what_newer_rows_push_out_is_not_needed() -> None:
    changelog = BoundedChangelog("t", Bound(rows=3))
    for offset in range(10):
        changelog.take(f"0-{offset}".encode(), f"{offset}:0:{offset}".encode(), offset)
    assert changelog.needed_from(NOW) == 7


def test_an_old_row_that_was_written_late_is_not_needed_either() -> None:
    changelog = BoundedChangelog("t", Bound(rows=2))
    for offset, order in enumerate((5, 6, 1)):
        changelog.take(f"0-{order}".encode(), f"{order}:0:{order}".encode(), offset)
    assert changelog.needed_from(NOW) == 0
    changelog.take(b"0-7", b"7:0:7", 3)
    assert changelog.needed_from(NOW) == 1


def test_a_row_is_needed_where_it_was_last_written() -> None:
    changelog = BoundedChangelog("t", Bound(rows=2))
    changelog.take(b"0-1", b"1:0:1|", 0)
    changelog.take(b"0-2", b"2:0:2|", 1)
    changelog.take(b"0-1", b"1:0:1|9:0:9", 2)
    assert changelog.needed_from(NOW) == 1


def test_rows_that_are_too_old_are_not_needed() -> None:
    changelog = BoundedChangelog("t", Bound(seconds=60))
    changelog.take(b"0-1", f"{NOW - 61_000}:0:1".encode(), 0)
    changelog.take(b"0-2", f"{NOW - 1_000}:0:2".encode(), 1)
    assert changelog.needed_from(NOW) == 1
    assert changelog.needed_from(NOW + 60_000) == 2


def test_a_record_that_nobody_understands_is_passed_over() -> None:
    changelog = BoundedChangelog("t", Bound(rows=2))
    changelog.take(b"0-1", b"nonsense", 0)
    assert changelog.needed_from(NOW) == 1


class ScriptedConsumer:
    """The first one breaks behind its first records; the second one goes on from where it is told to."""

    def __init__(self, breaks: bool) -> None:
        self.breaks = breaks
        self.begin = 0

    def assign(self, places: list[Any]) -> None:
        self.begin = places[0].offset

    def consume(self, *_: object) -> list[Any]:
        if self.breaks and self.begin:
            raise ValueError("nobody expected this")
        offsets = range(self.begin, 4) if self.breaks else range(self.begin, 10)
        self.begin = offsets.stop
        return [self._message(offset) for offset in offsets]

    def close(self) -> None:
        """Nothing is open."""

    def _message(self, offset: int) -> object:
        headers = [(VERSION_HEADER, f"{offset}:0:{offset}".encode())]
        return SimpleNamespace(error=lambda: None, topic=lambda: "t", key=f"0-{offset}".encode, offset=lambda: offset, headers=lambda: headers)


def test_an_error_does_not_end_the_trimming_and_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    consumers = iter([ScriptedConsumer(True), ScriptedConsumer(False)])
    deleted, enough = list[int](), threading.Event()

    def delete_records(_: str, before: dict[int, int]) -> None:
        deleted.append(before[0])
        if before == {0: 7}:
            enough.set()

    monkeypatch.setattr(module, "make_consumer", lambda *_: next(consumers))
    monkeypatch.setattr(module, "Topics", lambda *_: SimpleNamespace(delete_records=delete_records))
    monkeypatch.setattr(module, "TRIM_SECONDS", 0.0)
    trimmer = Trimmer(cast("Any", None), {"t": Bound(rows=3)})
    trimmer.start()
    assert enough.wait(10)
    trimmer.stop()
    assert deleted == [1, 7]
    assert sum("nobody expected this" in line for line in caplog.messages) == 1
