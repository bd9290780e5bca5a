"""Whatever is added, appended and removed in whatever order, the ranking equals a sorted list."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.tables import ranking
from tablecast.tables.ranking import Ranking

short = st.binary(max_size=2)
long = st.tuples(st.sampled_from([b"1234567", b"12345678", b"a2345678"]), short).map(b"".join)
"""Many of these begin with the same eight bytes, which then do not tell which comes first."""
places = st.one_of(short, long)
steps = st.lists(st.tuples(st.sampled_from(["add", "append", "remove", "look", "settle"]), places), max_size=120)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "LEAF", 2)
    monkeypatch.setattr(ranking, "MIXED_LEAF", 5)
    monkeypatch.setattr(ranking, "MIXED", 8)
    monkeypatch.setattr(ranking, "BLOCK", 2)


@given(steps, st.integers(0, 6), st.integers(0, 6))
def test_it_equals_a_sorted_list(taken: list[tuple[str, bytes]], start: int, size: int) -> None:
    known: Ranking[bytes] = Ranking()
    model: set[bytes] = set()
    for step, place in taken:
        if step == "look":
            assert known.between(start, start + size) == sorted(model)[start : start + size]
        elif step == "settle":
            known.settle(3)
        elif step == "remove" and place in model:
            model.discard(place)
            known.remove(place)
        elif step in ("add", "append") and place not in model:
            model.add(place)
            (known.add if step == "add" else known.append)(place, place)
    assert len(known) == len(model)
    assert known.after(b"a", size) == [place for place in sorted(model) if place > b"a"][:size]
    while not known.settle(3):
        pass
    assert known.between(0, len(model) + 1) == sorted(model)


@given(st.lists(st.tuples(st.booleans(), places), max_size=120), places)
def test_it_tells_where_each_stands(taken: list[tuple[bool, bytes]], other: bytes) -> None:
    known: Ranking[bytes] = Ranking()
    model: set[bytes] = set()
    for at_once, place in taken:
        if place not in model:
            model.add(place)
            (known.add if at_once else known.append)(place, place)
    assert [known.index_of(place) for place in sorted(model)] == list(range(len(model)))
    assert (known.index_of(other) is None) == (other not in model)


def test_what_is_not_there_cannot_be_removed() -> None:
    known: Ranking[int] = Ranking()
    known.add(b"a", 1)
    with pytest.raises(KeyError):
        known.remove(b"b")
    assert known.between(0, 2) == [1]


def test_it_is_taken_apart_in_steps() -> None:
    known: Ranking[int] = Ranking()
    for number in range(60):
        known.append(bytes([number]), number)
    assert sum(1 for _ in known.dismantle()) > 5
    assert len(known) == 0


def test_the_garbage_collector_passes_over_leaves() -> None:
    known: Ranking[bytes] = Ranking()
    for number in range(20):
        known.append(b"%04d" % number, b"x" * number)
    assert known.between(0, 20)[7] == b"x" * 7
    assert [leaf for leaf in (*known._places, *known._items) if gc.is_tracked(leaf)] == []
