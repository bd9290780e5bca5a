"""How many task slots a session of this machine is given."""

import pytest

from tablecast.configuration import load
from tablecast.pipeline.slots import LEAST_LOCAL, local_slots

CATALOG = load(None, {}, []).catalog


@pytest.mark.parametrize(("twin", "slots"), [(False, 2 * (100 + 60 + 2 + 4) + 160), (True, 4 * (100 + 60 + 2 + 4) + 160)])
def test_two_generations_and_a_fill_of_large_topics_have_theirs(twin: bool, slots: int) -> None:
    assert local_slots(CATALOG, {"users": 100, "accounts": 60}, 4, twin) == slots


def test_small_topics_leave_room_for_larger_ones() -> None:
    assert local_slots(CATALOG, {"users": 1, "accounts": 1}, 2, twin=False) == LEAST_LOCAL
