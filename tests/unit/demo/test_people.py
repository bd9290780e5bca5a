"""Sample data."""

from itertools import islice

from tablecast.demo.people import People


def test_the_same_seed_gives_the_same_people() -> None:
    assert list(islice(People(7, 50).samples(), 500)) == list(islice(People(7, 50).samples(), 500))
    assert list(islice(People(7, 50).samples(), 500)) != list(islice(People(8, 50).samples(), 500))


def test_accounts_belong_to_users_who_exist() -> None:
    known: set[str] = set()
    for sample in islice(People(1, 100).samples(), 5_000):
        if sample.source == "users":
            known.add(sample.value["userId"])
        assert sample.value["userId"] in known
    assert len(known) == 100


def test_values_look_like_the_sources_say() -> None:
    for sample in islice(People(3, 500).samples(), 2_000):
        if sample.source == "users":
            assert sample.value["email"].isascii()
            assert 18 <= sample.value["age"] <= 90
        else:
            assert isinstance(sample.value["balance"], float)
