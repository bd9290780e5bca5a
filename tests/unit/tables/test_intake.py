"""Whatever changes while the rows of a table come into a view, and however they are asked for: what was told together is what the table holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.tables.intake import Intake
from tablecast.tables.live_table import LiveTable
from tablecast.tables.row import Row

steps = st.lists(
    st.one_of(
        st.tuples(st.just("rows"), st.integers(1, 4), st.just(0)),
        st.tuples(st.just("changes"), st.integers(1, 3), st.just(0)),
        st.tuples(st.just("put"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9), st.just(0)),
    ),
    max_size=50,
)


def put(table: LiveTable, id: int, version: int) -> None:
    table.upsert(b"%d" % id, b'{"v":%d}' % version, b"1:0:%d|1:0:%d" % (id, version), b"%d:0:0" % (id % 3))


@given(st.sets(st.integers(0, 9)), steps)
def test_rows_and_changes_together_are_what_the_table_holds(first: set[int], taken: list[tuple[str, int, int]]) -> None:
    table = LiveTable("t", ())
    for id in first:
        put(table, id, 0)
    told: dict[Row, bytes] = {}

    def take(changed: dict[Row, bytes]) -> None:
        for row, before in changed.items():
            assert told.pop(row, b"") == before
            if row.data:
                told[row] = row.data

    intake = Intake(table, take)
    for number, (step, value, other) in enumerate([*taken, ("rows", 20, 0), ("changes", 0, 0)], 1):
        if step == "put":
            put(table, value, number + other)
        elif step == "delete":
            table.delete(b"%d" % value, None)
        elif step == "rows":
            for row, data in zip(*intake.rows(value), strict=True):
                assert row not in told
                told[row] = data
        elif intake.complete:
            intake.catch_up(value or None)
    assert intake.complete
    assert told == {row: row.data for row in table.rows(0, 20)}


def test_many_changes_are_taken_in_before_somebody_looks() -> None:
    table, taken = LiveTable("t", ()), list[int]()
    intake = Intake(table, lambda changed: taken.append(len(changed)))
    for eager in (False, True):
        intake.eager = eager
        for id in range(300):
            table.upsert(b"%s-%d" % (str(eager).encode(), id), b"{}", b"0:0:%d" % id)
    assert taken == [301, 256]
    intake.leave()
    table.delete(b"True-5", None)
    assert not intake.waits


def test_one_that_fails_takes_nobody_with_it_and_stays_failed() -> None:
    table = LiveTable("t", ())

    def fail(changed: dict[Row, bytes]) -> None:
        raise ZeroDivisionError

    intake, others = Intake(table, fail), list[Row]()
    good = Intake(table, others.extend)
    intake.eager = True
    for id in range(300):
        table.upsert(b"%d" % id, b"{}", b"0:0:%d" % id)
    good.catch_up()
    assert len(others) == len(table) == 300
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            intake.catch_up()
