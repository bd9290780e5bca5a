"""Whatever is added, appended and removed in whatever order, the ranking equals a sorted list."""

import gc
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.tables import ranking
from tablecast.tables.ranking import Ranking

short = st.binary(max_size=2)
long = st.tuples(st.sampled_from([b"1234567", b"12345678", b"a2345678"]), short).map(b"".join)
"""Many of these begin with the same eight bytes, which then do not tell which comes first."""
places = st.one_of(short, long)
steps = st.lists(st.tuples(st.sampled_from(["add", "put_off", "remove", "look", "settle"]), places), max_size=120)


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
            known.remove([place])
        elif step in ("add", "put_off") and place not in model:
            model.add(place)
            (known.add if step == "add" else known.put_off)([(place, place)])
    assert len(known) == len(model)
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
            (known.add if at_once else known.put_off)([(place, place)])
    assert [known.index_of(place) for place in sorted(model)] == list(range(len(model)))
    assert (known.index_of(other) is None) == (other not in model)


@given(st.lists(places, max_size=80, unique=True), st.lists(st.tuples(st.booleans(), places), max_size=40))
def test_who_goes_from_stretch_to_stretch_comes_by_everything_once(first: list[bytes], changes: list[tuple[bool, bytes]]) -> None:
    """Whatever is added and removed meanwhile: what stays is come by once, and what is new only ahead."""
    known: Ranking[bytes] = Ranking()
    known.put_off((place, place) for place in first)
    model, seen, reached, coming = set(first), list[bytes](), b"", iter(changes)
    end: bytes | None = reached
    while end is not None:
        reached = end
        found, end = known.stretch(reached)
        assert all(place >= reached and (end is None or place < end) for place in found)
        seen += found
        for here, place in islice(coming, 5):
            if here and place not in model:
                model.add(place)
                known.add([(place, place)])
            elif not here and place in model:
                model.discard(place)
                known.remove([place])
    assert len(set(seen)) == len(seen)
    assert {place for place in first if place in model} - {place for _, place in changes} <= set(seen)


def test_what_is_not_there_cannot_be_removed() -> None:
    known: Ranking[int] = Ranking()
    known.add([(b"a", 1)])
    with pytest.raises(KeyError):
        known.remove([b"b"])
    assert known.between(0, 2) == [1]


def test_it_is_taken_apart_in_steps() -> None:
    known: Ranking[int] = Ranking()
    known.put_off((bytes([number]), number) for number in range(60))
    assert sum(1 for _ in known.dismantle()) > 5
    assert len(known) == 0


def test_the_garbage_collector_passes_over_leaves() -> None:
    known: Ranking[bytes] = Ranking()
    known.put_off((b"%04d" % number, b"x" * number) for number in range(20))
    assert known.between(0, 20)[7] == b"x" * 7
    assert [leaf for leaf in (*known._places, *known._items) if gc.is_tracked(leaf)] == []
