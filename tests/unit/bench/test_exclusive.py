"""What is told of the machine with each measurement."""

from bench.exclusive import stolen


def test_time_that_the_host_gave_to_others_is_told_as_a_share_of_all() -> None:
    before = (100, 0, 50, 800, 0, 0, 0, 50)
    after = (160, 0, 60, 820, 0, 0, 0, 60)
    assert stolen(before, after) == 10.0


def test_nothing_is_told_where_it_is_not_known() -> None:
    assert stolen((), ()) is None
