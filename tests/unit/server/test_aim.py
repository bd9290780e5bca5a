"""H2, H4 and H5: which generation a server reads next."""

import pytest

from tablecast.kafka.status import GenerationStatus, State, TableStatus
from tablecast.server.aim import aim


def told(generation: int, state: State, changelog: str = "c") -> GenerationStatus:
    return GenerationStatus(generation, state, {}, {"users": TableStatus(f"{changelog}{generation}", ())}, {}, "f", "2026-01-01T00:00:00Z")


def aimed(shown: GenerationStatus | None, *statuses: GenerationStatus, again: bool = False) -> int | None:
    target = aim(statuses, shown, again)
    return None if target is None else target.generation


@pytest.mark.parametrize("state", ["building", "hydrating", "ready"])
def test_what_comes_is_read_beside_what_is_shown(state: State) -> None:
    assert aimed(told(1, "live"), told(2, state), told(1, "live")) == 2
    assert aimed(None, told(1, state)) == 1


@pytest.mark.parametrize("state", ["failed", "retired", "lingering"])
def test_what_failed_or_is_over_is_not_read(state: State) -> None:
    assert aimed(told(1, "live"), told(1, "live"), told(2, state)) is None
    assert aimed(None, told(2, state)) is None


def test_what_is_live_goes_before_what_only_comes() -> None:
    assert aimed(None, told(1, "live"), told(2, "hydrating")) == 1
    assert aimed(told(1, "live"), told(1, "lingering"), told(2, "live"), told(3, "building")) == 2


def test_of_several_that_are_live_the_newest_is_shown() -> None:
    assert aimed(None, told(2, "live"), told(1, "live")) == 2
    assert aimed(told(2, "live"), told(2, "live"), told(1, "live")) is None


def test_leftovers_before_the_live_one_are_not_read() -> None:
    assert aimed(told(3, "live"), told(2, "building"), told(3, "live")) is None


def test_what_is_shown_is_read_again_when_it_must_be() -> None:
    assert aimed(told(1, "live"), told(1, "live"), again=True) == 1
    assert aimed(told(1, "live"), told(1, "live", "other"), again=False) == 1
