"""H3: a burst ends in the last valid state, with the fewest steps, and every message has its verdict."""

from hypothesis import given
from hypothesis import strategies as st

from tablecast.orchestrator.agenda import MOST_WAITING, Agenda, Asked
from tablecast.orchestrator.control import Rejection, Request
from tablecast.orchestrator.verdicts import Answer, Letter


def asked(offset: int, topic: str, ignored: tuple[str, ...] = ()) -> Asked:
    return Asked(Letter((0, offset), f"m{offset}", 1000 + offset, b"{}"), Request({"users": topic}, "left", ignored), topic)


def told(answers: list[Answer]) -> dict[str, str]:
    return {answer.letter.id: answer.verdict for answer in answers}


def test_the_newest_wins_and_those_before_it_are_superseded_once_it_is_live() -> None:
    agenda = Agenda()
    messages = [asked(number, f"t{number}") for number in range(3)]
    assert [agenda.take(message).verdict for message in messages] == ["pending"] * 3
    assert agenda.candidate() is messages[2]
    agenda.choose(messages[2])
    assert agenda.candidate() is None
    assert told(agenda.applied(messages[2], 7)) == {"m0": "superseded", "m1": "superseded", "m2": "applied"}
    assert agenda.waiting == []
    assert agenda.chosen is None


def test_a_refused_one_leaves_the_turn_to_the_one_before() -> None:
    agenda = Agenda()
    good, bad, again = asked(0, "good"), asked(1, "bad"), asked(2, "bad")
    for message in (good, bad, again):
        agenda.take(message)
    assert told(agenda.rejected(again, Rejection("there is no such topic"))) == {"m1": "rejected", "m2": "rejected"}
    assert agenda.candidate() is good


def test_one_that_fails_while_it_is_built_leaves_the_turn_to_the_one_before() -> None:
    agenda = Agenda()
    first, second = asked(0, "a"), asked(1, "b")
    agenda.take(first)
    agenda.take(second)
    agenda.choose(second)
    agenda.rejected(second, Rejection("it took too long"))
    assert agenda.chosen is None
    assert agenda.candidate() is first


def test_a_newer_one_is_looked_at_while_another_is_built() -> None:
    agenda = Agenda()
    first, second = asked(0, "a"), asked(1, "b")
    agenda.take(first)
    agenda.choose(first)
    agenda.take(second)
    assert agenda.candidate() is second
    assert told(agenda.applied(first, 2)) == {"m0": "applied"}
    assert agenda.candidate() is second


def test_what_is_live_already_changes_nothing_and_supersedes_what_came_before() -> None:
    agenda = Agenda()
    first, second = asked(0, "a"), asked(1, "live")
    agenda.take(first)
    agenda.take(second)
    answers = agenda.unchanged(second, 4)
    assert told(answers) == {"m0": "superseded", "m1": "no_change"}
    assert answers[1].reason == "generation 4 shows this already"


def test_all_that_asked_for_the_same_are_applied_and_ignored_fields_are_named() -> None:
    agenda = Agenda()
    first, second = asked(0, "a", ("comment",)), asked(1, "a")
    agenda.take(first)
    agenda.take(second)
    agenda.choose(second)
    answers = agenda.applied(second, 4)
    assert told(answers) == {"m0": "applied", "m1": "applied"}
    assert [answer.reason for answer in answers] == ["unknown fields ignored: comment", None]


@given(st.lists(st.sampled_from(["live", "a", "b", "bad", "worse"]), max_size=60), st.lists(st.integers(1, 5), max_size=60))
def test_a_burst_ends_in_its_last_valid_state_and_each_message_has_one_verdict(topics: list[str], arrivals: list[int]) -> None:
    """Messages arrive in lumps, and between two lumps one step is taken, as the orchestrator does."""
    agenda, live, verdicts, builds = Agenda(), "live", dict[str, str](), 0
    messages = [asked(number, topic) for number, topic in enumerate(topics)]
    lumps = iter([*arrivals, len(messages)])
    rest = list(messages)
    while rest or agenda.waiting:
        for message in [rest.pop(0) for _ in range(min(len(rest), next(lumps, 1)))]:
            agenda.take(message)
        candidate = agenda.candidate()
        if candidate is None:
            continue
        if candidate.fingerprint == live:
            answers = agenda.unchanged(candidate, 1)
        elif candidate.fingerprint in ("bad", "worse"):
            answers = agenda.rejected(candidate, Rejection("no"))
        else:
            agenda.choose(candidate)
            builds, live = builds + 1, candidate.fingerprint
            answers = agenda.applied(candidate, builds)
        for answer in answers:
            assert answer.letter.id not in verdicts
            verdicts[answer.letter.id] = answer.verdict
    valid = [topic for topic in topics if topic not in ("bad", "worse")]
    assert live == (valid[-1] if valid else "live")
    assert set(verdicts) == {message.letter.id for message in messages}
    if not arrivals:
        assert builds <= 1


def test_a_flood_leaves_the_newest_waiting_and_the_one_that_is_being_built() -> None:
    agenda = Agenda()
    messages = [asked(number, f"t{number}") for number in range(MOST_WAITING + 3)]
    for message in messages:
        agenda.take(message)
    agenda.choose(messages[1])
    assert told(agenda.overtaken()) == {"m0": "superseded", "m2": "superseded"}
    assert len(agenda.waiting) == MOST_WAITING + 1
    assert agenda.chosen is messages[1]
    assert agenda.candidate() is messages[-1]
    assert agenda.overtaken() == []
