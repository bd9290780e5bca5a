import pytest

from tablecast.server.rate import Allowance, Budget, Rate


def test_any_second_has_at_most_so_many() -> None:
    rate = Rate(2)
    assert [rate.allows(now) for now in (0.0, 0.5, 0.9, 1.0, 1.4, 1.5)] == [True, True, False, True, False, True]


def test_an_allowance_has_a_burst_and_fills_again() -> None:
    allowance = Allowance(0.5, 2)
    assert [allowance.wait(now) for now in (10.0, 10.0, 10.0, 11.0, 12.0)] == [0, 0, 2, 1, 0]
    assert [allowance.wait(now) for now in (1000.0, 1000.0, 1000.0)] == [0, 0, 2]


def test_a_budget_may_be_overdrawn_by_one_step_and_is_then_waited_for() -> None:
    budget = Budget(share=0.1, burst=0.5)
    assert budget.wait(100.0) == 0
    budget.spend(0.7, 100.0)
    assert budget.wait(100.0) == pytest.approx(2, abs=0.01)
    assert budget.wait(101.0) == pytest.approx(1, abs=0.01)
    assert budget.wait(102.01) == 0


def test_a_budget_that_is_not_used_does_not_grow() -> None:
    budget = Budget(share=0.1, burst=0.5)
    budget.spend(0.5, 1000.0)
    assert budget.wait(1000.0) > 0
    budget.spend(0.5, 2000.0)
    assert budget.wait(2000.0) > 0
