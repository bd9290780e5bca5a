from hypothesis import given
from hypothesis import strategies as st

from tablecast.catalog import Column
from tablecast.tables.instant import Instant
from tablecast.tables.live_table import LiveTable

changes = st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12)


def write(table: LiveTable, id: int, version: int, gone: bool = False) -> None:
    if gone:
        table.delete(b"%d" % id, None)
    else:
        table.upsert(b"%d" % id, b'{"n":"%d"}' % version, b"1:0:%d" % version, b"1:0:%d" % ((id * 7 + version) % 10))


@given(st.lists(changes, min_size=1, max_size=6), st.integers(1, 4))
def test_whatever_happens_between_its_slices_it_is_what_was(happened: list[list[tuple[int, bool]]], size: int) -> None:
    table = LiveTable("t", [Column("n", "int64")])
    for id in range(8):
        write(table, id, 1)
    rows, version, copied = table.rows(0, 99), 1, list[bytes]()
    expected = [row.data for row in rows]
    with Instant(table, rows) as instant:
        for number, part in enumerate(instant.slices(size)):
            copied += part
            for id, gone in happened[number % len(happened)]:
                version += 1
                write(table, id, version, gone)
    assert copied == expected
    assert table._followers == []
