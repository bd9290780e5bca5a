"""Whatever is put off, and whenever it is done: what is looked at equals a sorted list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.tables.near_first import MARGIN, NearFirst
from tablecast.tables.ranking import Ranking

places = st.integers(0, 40).map(lambda number: b"%02d" % number)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.sets(places, max_size=6), st.sets(places, max_size=6)),
        st.tuples(st.just("look"), st.integers(0, 30), st.integers(0, 6)),
        st.tuples(st.just("tidy"), st.integers(1, 3), st.just(0)),
        st.tuples(st.just("find"), places, st.just(0)),
    ),
    max_size=60,
)


@given(st.sets(places), steps, st.sampled_from([0, 2, 5]), st.sampled_from([3, 1000]))
def test_what_is_looked_at_equals_a_sorted_list(first: set[bytes], taken: list[tuple[str, object, object]], margin: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tablecast.tables.near_first.MARGIN", margin)
        patch.setattr("tablecast.tables.near_first.MOST_FAR", most)
        order: Ranking[tuple[bytes, int]] = Ranking()
        near, model = NearFirst(order), {place: (place, 0) for place in first}
        order.add(model.items())
        for number, (step, one, other) in enumerate(taken, 1):
            if step == "change":
                assert isinstance(one, set)
                assert isinstance(other, set)
                gone = [place for place in one if place in model]
                for place in gone:
                    del model[place]
                come = {place: (place, number) for place in other if place not in model}
                model |= come
                near.change(gone, list(come.items()))
            elif step == "look":
                assert isinstance(one, int)
                assert isinstance(other, int)
                assert near.between(one, one + other) == sorted(model.values())[one : one + other]
            elif step == "tidy":
                assert isinstance(one, int)
                near.tidy(one)
            else:
                assert isinstance(one, bytes)
                assert near.index_of(one) == (sorted(model).index(one) if one in model else None)
            assert len(near) == len(model)
        while not near.tidy(2):
            pass
        assert order.between(0, 99) == near.between(0, 99) == sorted(model.values())


def test_far_changes_wait_and_near_ones_do_not() -> None:
    order: Ranking[int] = Ranking()
    order.add((b"%06d" % number, number) for number in range(0, 20_000, 2))
    near = NearFirst(order)
    assert near.between(0, 3) == [0, 2, 4]
    near.change([b"000002", b"019998"], [(b"000001", 1), (b"019997", 19_997)])
    assert near.between(0, 3) == [0, 1, 4]
    assert (len(near), order.index_of(b"019998") is None, order.index_of(b"019997")) == (10_000, False, None)
    assert near.tidy(100)
    assert order.index_of(b"019997") == 9_999
    assert near.between(9_998, 10_000) == [19_996, 19_997]


def test_the_frontier_comes_back_when_nobody_looks_far_any_more() -> None:
    order: Ranking[int] = Ranking()
    order.add((b"%06d" % number, number) for number in range(10 * MARGIN))
    near = NearFirst(order)
    near.between(5 * MARGIN, 5 * MARGIN + 3)
    for _ in range(2):
        near.between(0, 3)
        near.tidy(10)
    near.change([b"%06d" % (4 * MARGIN)], [])
    assert order.index_of(b"%06d" % (4 * MARGIN)) is not None
