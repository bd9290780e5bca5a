"""H1 and H3 without Kafka: what a control message asks for, and why a bad one is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.configuration import load
from tablecast.orchestrator.control import MOST_IGNORED, SHOWN, Rejection, Request, asked_for, joins_of, overlaid, parse

SOURCES = ("users", "accounts")
GOOD = {"usersTopic": "u", "accountsTopic": "a", "joinType": "inner"}


def parsed(message: dict[str, Any]) -> Request | Rejection:
    return parse(json.dumps(message).encode(), SOURCES)


@pytest.mark.parametrize(
    "message",
    [
        GOOD,
        {"usersTopic": " u ", "accountsTopic": "a\n", "joinType": " INNER "},
        {"USERSTOPIC": "u", " accountstopic ": "a", "JoinType": "Inner"},
    ],
)
def test_spaces_and_case_are_forgiven(message: dict[str, Any]) -> None:
    assert parsed(message) == Request({"users": "u", "accounts": "a"}, "inner")


@pytest.mark.parametrize("message", [{"usersTopic": "u", "accountsTopic": "a"}, GOOD | {"joinType": None}, GOOD | {"joinType": " "}])
def test_without_a_join_type_it_is_left(message: dict[str, Any]) -> None:
    assert parsed(message) == Request({"users": "u", "accounts": "a"}, "left")


def test_any_source_of_the_catalogue_has_its_field() -> None:
    assert parse(b'{"ordersTopic": "o"}', ("orders",)) == Request({"orders": "o"})


def test_unknown_fields_are_ignored_and_named() -> None:
    asked = parsed(GOOD | {"comment": "please", "by": 7})
    assert isinstance(asked, Request)
    assert asked.ignored == ("comment", "by")


@pytest.mark.parametrize(("given", "dry"), [(True, True), (" TRUE ", True), (False, False), ("false", False), (None, False), ("", False)])
def test_a_dry_run_only_asks(given: object, dry: bool) -> None:
    asked = parsed(GOOD | {"DryRun": given})
    assert isinstance(asked, Request)
    assert (asked.dry_run, asked.ignored) == (dry, ())


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the message is empty, expected a JSON object"),
        (b"", "the message is empty, expected a JSON object"),
        (b"swap!", "the message is not JSON"),
        (b"\xff\xfe", "the message is not JSON"),
        (b"[" * 100_000, "the message is not JSON"),
        (b"[1]", "the message is [1], expected an object"),
        (b'"users"', "the message is 'users', expected an object"),
        (b"null", "the message is null, expected an object"),
        (b'{"usersTopic":"u"}', "accountsTopic is missing, expected the name of a topic"),
        (b'{"usersTopic":"  ","accountsTopic":"a"}', "usersTopic is blank, expected the name of a topic"),
        (b'{"usersTopic":7,"accountsTopic":"a"}', "usersTopic is 7, expected the name of a topic"),
        (b'{"usersTopic":"a b","accountsTopic":"a"}', "usersTopic is 'a b', expected a name as Kafka allows"),
        (b'{"usersTopic":"a","accountsTopic":"a"}', "usersTopic and accountsTopic are both 'a', expected two topics"),
        (b'{"usersTopic":"u","accountsTopic":"a","joinType":"outer"}', "joinType is 'outer', expected left or inner"),
        (b'{"usersTopic":"u","accountsTopic":"a","joinType":1}', "joinType is 1, expected left or inner"),
        (b'{"usersTopic":"u","accountsTopic":"a","dryRun":"yes"}', "dryRun is 'yes', expected true or false"),
        (b'{"usersTopic":"u","accountsTopic":"a","dryRun":1}', "dryRun is 1, expected true or false"),
        (b'{"joinType":"outer"}', "usersTopic is missing, expected the name of a topic; accountsTopic is missing"),
    ],
)
def test_a_bad_message_is_refused_with_what_got_and_expected(value: bytes | None, reason: str) -> None:
    verdict = parse(value, SOURCES)
    assert isinstance(verdict, Rejection)
    assert verdict.reason.startswith(reason)
    assert len(verdict.reason) < 1000


@given(st.binary(max_size=300))
def test_bytes_never_raise(value: bytes) -> None:
    assert isinstance(parse(value, SOURCES), Request | Rejection)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["usersTopic", "accountsTopic", "joinType", " x"]), inner),
    max_leaves=8,
)


@given(JSON)
def test_json_never_raises_and_a_request_is_whole(value: object) -> None:
    asked = parse(json.dumps(value).encode(), SOURCES)
    if isinstance(asked, Request):
        assert set(asked.topics) == set(SOURCES)
        assert asked.join in ("left", "inner")
        assert all(topic and topic == topic.strip() for topic in asked.topics.values())


def test_a_request_changes_topics_and_the_joins_that_it_may() -> None:
    catalog = load(None, {}, ["tables.other.join=left", "tables.other.left=users", "tables.other.right=accounts", "tables.other.on=userId"]).catalog
    changed = asked_for(catalog, Request({"users": "u", "accounts": "a"}, "inner"), ("final_ui", "gone"))
    assert {name: source.topic for name, source in changed.sources.items()} == {"users": "u", "accounts": "a"}
    assert joins_of(changed, ("final_ui", "other", "user_account")) == {"final_ui": "inner", "other": "left", "user_account": "asof"}


def test_an_as_of_join_stays_one() -> None:
    catalog = load(None, {}).catalog
    assert joins_of(asked_for(catalog, Request({}, "inner"), ("user_account",)), ("user_account",)) == {"user_account": "asof"}


def test_what_was_applied_once_is_laid_over_a_catalogue_as_far_as_it_fits() -> None:
    catalog = load(None, {}).catalog
    changed = overlaid(catalog, {"users": "u", "orders": "o"}, {"final_ui": "inner", "orders_ui": "inner"})
    assert changed.sources["users"].topic == "u"
    assert changed.sources["accounts"].topic == "accounts"
    assert joins_of(changed, ("final_ui",)) == {"final_ui": "inner"}
    assert overlaid(catalog, {}, {}) == catalog


MIB = 1 << 20
LARGE = {
    "a mebibyte of text": json.dumps({"usersTopic": "x" * MIB, "accountsTopic": "a"}),
    "a mebibyte of fields": json.dumps({f"f{number}": number for number in range(60_000)}),
    "nested deep": '{"usersTopic":' * 5000 + "1" + "}" * 5000,
    "nested in a list": '{"usersTopic":' + "[" * 900 + "]" * 900 + ', "accountsTopic": "a"}',
    "a huge number": '{"usersTopic": ' + "9" * 3000 + "}",
    "control characters": json.dumps({"usersTopic": "users\n[orchestrator] ready", "accountsTopic": "\x1b[2J", "joinType": "\x9b"}),
    "not text": '{"usersTopic": "\udcff"}',
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE)
def test_a_large_or_odd_message_is_refused_in_a_few_words(value: str) -> None:
    verdict = parse(value.encode(errors="surrogateescape"), SOURCES)
    assert isinstance(verdict, Rejection)
    assert len(verdict.reason) < 1000
    assert verdict.reason.isprintable()


def test_of_a_hundred_thousand_unknown_fields_a_few_are_told() -> None:
    fields = {f"{number}{'x' * 100}": 0 for number in range(10_000)}
    request = parse(json.dumps({"usersTopic": "u", "accountsTopic": "a", **fields}).encode(), SOURCES)
    assert isinstance(request, Request)
    assert len(request.ignored) == MOST_IGNORED
    assert all(len(name) <= SHOWN for name in request.ignored)


@pytest.mark.parametrize(
    "topic", ["a\nb", "a\x00", "a b", "../a", "..", ".", "a/b", "a" * 250, "ünïcode", "a\u202eb", "$(reboot)", "`a`", "a;b", "'a'"]
)
def test_a_name_that_no_topic_has_is_refused(topic: str) -> None:
    assert isinstance(parse(json.dumps({"usersTopic": topic, "accountsTopic": "a"}).encode(), SOURCES), Rejection)
