"""What the keepers of a generation say together: one for each query, or one and its twin."""

from types import SimpleNamespace
from typing import Any, cast

from tablecast.orchestrator.crew import Crew


def keeper(query: int, reason: str | None = None, lost: bool = False, out_of_history: int = 0, name: str = "q") -> Any:
    return SimpleNamespace(query=query, reason=reason, lost=lost, out_of_history=out_of_history, name=name)


def crew(*keepers: Any) -> Crew:
    made = Crew()
    made.keepers = cast("Any", list(keepers))
    return made


def test_a_query_fails_when_neither_it_nor_its_twin_runs() -> None:
    assert crew(keeper(0), keeper(1, "broken")).failing() == "broken"
    assert crew(keeper(0, "broken"), keeper(0)).failing() is None
    assert crew(keeper(0, "broken"), keeper(0, "broken too")).failing() == "broken"


def test_a_twin_that_does_not_run_is_told() -> None:
    assert crew(keeper(0), keeper(0, "broken", lost=True, name="q0-twin")).limping() == "q0-twin does not run, its twin does: broken"
    assert crew(keeper(0), keeper(0)).limping() is None


def test_it_is_lost_when_a_query_has_nobody_left() -> None:
    assert not crew(keeper(0, lost=True), keeper(0)).lost
    assert crew(keeper(0, lost=True), keeper(0, lost=True), keeper(1)).lost
    assert not crew().lost


def test_a_lost_query_holds_no_slots() -> None:
    assert crew(keeper(0), keeper(0, lost=True), keeper(1), keeper(2, lost=True)).held() == [0, 1]


def test_twins_count_the_same_records() -> None:
    assert crew(keeper(0, out_of_history=5), keeper(0, out_of_history=3), keeper(1, out_of_history=2)).out_of_history == 7
