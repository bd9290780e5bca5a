import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.tables.version import left_order, parse_order, supersedes

times = st.one_of(st.integers(-1, 2), st.integers(1_700_000_000_000, 1_700_000_000_002))
orders = st.tuples(times, st.integers(0, 2), st.integers(0, 12))
pairs = st.tuples(orders, st.none() | orders)


def encoded(pair: tuple[tuple[int, int, int], tuple[int, int, int] | None]) -> bytes:
    left, right = pair
    return b"%d:%d:%d|" % left + (b"%d:%d:%d" % right if right else b"")


@given(pairs, pairs)
def test_a_newer_part_wins_unless_the_other_part_is_older(one: tuple[tuple[int, int, int], None], other: tuple[tuple[int, int, int], None]) -> None:
    older = one[0] < other[0] or (one[1] or ()) < (other[1] or ())
    assert supersedes(encoded(one), encoded(other)) is (one != other and not older)


@pytest.mark.parametrize("bad", [b"x", b"1:2", b"a:0:1", b"1:0:1|x", b"1:0:1|1:2", b"1:0:1|1:0:1|1:0:1", b"1::1", b"1:0:1|1:0:"])
def test_what_is_no_version_is_refused(bad: bytes) -> None:
    """Also where both are bad in the same way."""
    for known in (b"0:0:0|0:0:0", bad.translate(bytes.maketrans(b"1ax", b"0by"))):
        with pytest.raises(ValueError, match=r"int|unpack"):
            supersedes(bad, known)


@given(pairs)
def test_the_left_order_is_the_first(pair: tuple[tuple[int, int, int], None]) -> None:
    assert parse_order(left_order(encoded(pair))) == pair[0]


@pytest.mark.parametrize("text", [b"", b"1:2", b"a:b:c", b"1:2:3:4"])
def test_what_is_no_order_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"int|unpack"):
        parse_order(text)
