"""Which records of a bounded changelog are still needed."""

from tablecast.catalog import Bound
from tablecast.orchestrator.trim import BoundedChangelog

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
