from bench.usage import Used


def test_what_is_spent_is_told_by_record_and_by_second() -> None:
    used = Used({"spark": 2.0, "feed": 0.5}, 4.0)
    assert used.micros_each(1000) == {"spark": 2000.0, "feed": 500.0}
    assert used.cores == {"spark": 0.5, "feed": 0.125}
