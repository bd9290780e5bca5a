from tablecast.server.rate import Rate


def test_any_second_has_at_most_so_many() -> None:
    rate = Rate(2)
    assert [rate.allows(now) for now in (0.0, 0.5, 0.9, 1.0, 1.4, 1.5)] == [True, True, False, True, False, True]
