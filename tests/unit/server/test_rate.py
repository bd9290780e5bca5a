from tablecast.server.rate import Allowance, Rate


def test_any_second_has_at_most_so_many() -> None:
    rate = Rate(2)
    assert [rate.allows(now) for now in (0.0, 0.5, 0.9, 1.0, 1.4, 1.5)] == [True, True, False, True, False, True]


def test_an_allowance_has_a_burst_and_fills_again() -> None:
    allowance = Allowance(0.5, 2)
    assert [allowance.wait(now) for now in (10.0, 10.0, 10.0, 11.0, 12.0)] == [0, 0, 2, 1, 0]
    assert [allowance.wait(now) for now in (1000.0, 1000.0, 1000.0)] == [0, 0, 2]
