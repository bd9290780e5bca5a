"""V1, V3, V5: what a viewer may say, in which order, and what is answered."""

from typing import Any

import pytest

from tablecast import __version__
from tablecast.catalog import Column
from tablecast.server.hub import Hub
from tablecast.server.session import LOGIN_BYTES, State
from tablecast.wire.frames import frame_body

from .talking import KEY, Clock, Talk, TalkTo, generation_of, put, table_of

OPEN = {"sub": 1, "request": 1, "table": "users", "offset": 0, "size": 3}


def test_a_login_is_welcomed_and_told_of_the_feed(hub: Hub, talk_to: TalkTo) -> None:
    assert talk_to(hub, login=False).say("login", key=KEY) == [
        {
            "type": "welcome",
            "protocol": "tablecast.v1",
            "server": __version__,
            "limits": {"windowRows": 5000, "subscriptions": 64, "messageBytes": 65536},
            "role": "operator",
        },
        {"type": "feed", "state": "live", "message": None},
    ]


@pytest.mark.parametrize(
    ("message", "code", "close_code"),
    [
        ({"type": "login", "key": "wrong"}, "wrong_key", 4401),
        ({"type": "login", "key": "\ud800"}, "bad_message", 4400),
        ({"type": "open", **OPEN}, "login_required", 4401),
        ({"type": "ping", "id": 1}, "login_required", 4401),
        ({"type": "shout"}, "bad_message", 4400),
        ({"type": "login", "key": "x" * 70_000}, "message_too_large", 4413),
        ({"type": "login", "key": "x" * LOGIN_BYTES}, "message_too_large", 4413),
    ],
)
def test_nothing_is_served_before_a_login(hub: Hub, talk_to: TalkTo, message: dict[str, Any], code: str, close_code: int) -> None:
    talk = talk_to(hub, login=False)
    [answer] = talk.say(**message)
    assert (answer["type"], answer["code"]) == ("error", code)
    assert (talk.session.state, talk.session.close_code) == (State.CLOSED, close_code)
    assert talk.say("login", key=KEY) == []


def test_a_login_that_does_not_come_in_time(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub, login=False)
    talk.session.expire()
    assert [answer["code"] for answer in talk.hear()] == ["login_timeout"]
    assert talk.session.close_code == 4408
    logged_in = talk_to(hub)
    logged_in.session.expire()
    assert logged_in.hear() == []


def test_a_second_login_is_answered_with_a_sentence(hub: Hub, talk_to: TalkTo) -> None:
    [answer] = talk_to(hub).say("login", key=KEY)
    assert "logged in already" in answer["message"]


def test_open_is_answered_with_columns_and_a_whole_frame(hub: Hub, talk_to: TalkTo) -> None:
    opened, frame = talk_to(hub).say("open", **OPEN | {"table": "user"})
    columns = [{"name": "name", "type": "string"}, {"name": "n", "type": "int64"}]
    assert opened == {"type": "opened", "sub": 1, "request": 1, "table": "user", "generation": 1, "columns": columns}
    assert (frame["total"], frame["offset"], frame["ids"], frame["revision"]) == (10, 0, ["0-0", "0-1", "0-2"], 1)
    assert frame["rows"]["0-2"] == {"name": "row 2", "n": "1"}


def test_an_offset_beyond_the_end_is_moved_back(hub: Hub, talk_to: TalkTo) -> None:
    _, frame = talk_to(hub).say("open", **OPEN | {"offset": 10**25})
    assert (frame["offset"], frame["ids"]) == (7, ["0-7", "0-8", "0-9"])


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"table": "userz"}, "unknown_table"),
        ({"size": 0}, "bad_window"),
        ({"size": 1_000_000}, "bad_window"),
        ({"offset": -1}, "bad_window"),
        ({"sort": [{"column": "x"}]}, "bad_view"),
        ({"sort": [{"column": "n"}] * 4}, "bad_view"),
        ({"filter": {"op": "like"}}, "bad_view"),
        ({"sort": [{"column": "name", "locale": "xx"}]}, "bad_view"),
        ({"group": {"by": ["x"]}}, "bad_view"),
        ({"search": "x" * 1001}, "bad_view"),
    ],
)
def test_an_open_that_cannot_be_is_refused_and_the_number_stays_free(hub: Hub, talk_to: TalkTo, fields: dict[str, object], code: str) -> None:
    talk = talk_to(hub)
    [answer] = talk.say("open", **OPEN | fields)
    assert (answer["code"], answer["sub"]) == (code, 1)
    assert talk.session.state is State.OPEN
    assert [message["type"] for message in talk.say("open", **OPEN)] == ["opened", "frame"]


def test_move_and_shape_are_answered_with_whole_frames(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    [moved] = talk.say("move", sub=1, request=2, offset=5, size=2)
    assert (moved["request"], moved["revision"], moved["ids"], len(moved["rows"])) == (2, 2, ["0-5", "0-6"], 2)
    sort = [{"column": "name", "descending": True}]
    [shaped] = talk.say("shape", sub=1, request=3, offset=0, size=2, sort=sort, filter={"op": "ne", "column": "name", "value": "row 9"})
    assert (shaped["request"], shaped["total"], shaped["ids"]) == (3, 9, ["0-8", "0-7"])
    [same] = talk.say("move", sub=1, request=4, offset=0, size=2)
    assert (same["request"], same["ids"], len(same["rows"])) == (4, ["0-8", "0-7"], 2)


def test_a_refused_request_leaves_the_window_and_frames_go_on(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    error, frame = talk.say("move", sub=1, request=2, offset=0, size=0)
    assert (error["code"], error["sub"]) == ("bad_window", 1)
    assert (frame["request"], frame["ids"]) == (2, ["0-0", "0-1", "0-2"])
    error, frame = talk.say("shape", sub=1, request=3, offset=0, size=3, sort=[{"column": "x"}])
    assert (error["code"], frame["request"], frame["ids"]) == ("bad_view", 3, ["0-0", "0-1", "0-2"])


def test_a_request_number_that_does_not_grow_is_refused(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    [error] = talk.say("move", sub=1, request=1, offset=5, size=2)
    assert "the request 1 of subscription 1 is not above 1" in error["message"]
    assert talk.session.close_code == 4400


def test_a_row_is_found_wherever_it_stands_in_the_view(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    [refused] = talk.say("find", sub=1, row="0-8")
    assert (refused["code"], refused["sub"]) == ("unknown_subscription", 1)
    talk.say("open", **OPEN | {"sort": [{"column": "name", "descending": True}], "filter": {"op": "ne", "column": "name", "value": "row 9"}})
    assert talk.say("find", sub=1, row="0-1") == [{"type": "found", "sub": 1, "row": "0-1", "index": 7}]
    put(table_of(hub), 7, 5, version=1)
    table_of(hub).delete(b"0-8", None)
    frame, found = talk.say("find", sub=1, row="0-1")
    assert (frame["type"], found["index"]) == ("frame", 6), "behind the frame of the state that it is about"
    for row in ("0-9", "0-99", "ö"):
        assert talk.say("find", sub=1, row=row) == [{"type": "found", "sub": 1, "row": row, "index": None}]


def test_a_row_that_is_looked_for_too_early_is_found_when_the_view_is_there(talk_to: TalkTo) -> None:
    hub = Hub()
    talk = talk_to(hub)
    assert talk.say("open", **OPEN) + talk.say("find", sub=1, row="0-3") + talk.say("find", sub=1, row="0-4") == []
    hub.flip(generation_of(1, 10))
    assert talk.hear()[-1] == {"type": "found", "sub": 1, "row": "0-4", "index": 4}


def test_close_is_answered_and_nothing_comes_after_it(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    put(table_of(hub), 0, 99, version=1)
    talk.session.outbox.mark(1)
    talk.session.receive('{"type":"close","sub":1}')
    assert talk.hear() == [{"type": "closed", "sub": 1}]
    assert list(hub.current().find("users").viewports()) == []
    for type in ("close", "move"):
        [answer] = talk.say(type, sub=1, request=9, offset=0, size=1)
        assert (answer["code"], answer["sub"]) == ("unknown_subscription", 1)


def test_limits_have_codes_of_their_own(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub, subscriptions=1)
    talk.say("open", **OPEN)
    assert [answer["code"] for answer in talk.say("open", **OPEN)] == ["subscription_exists"]
    assert [answer["code"] for answer in talk.say("open", **OPEN | {"sub": 2})] == ["too_many_subscriptions"]


def test_one_viewer_has_only_so_many_different_views(hub: Hub, talk_to: TalkTo) -> None:
    talk, other = talk_to(hub, viewer_views=2), talk_to(hub, viewer_views=2)

    def opened(talk: Talk, sub: int, *columns: str) -> str:
        answer = talk.say("open", **OPEN | {"sub": sub, "sort": [{"column": column} for column in columns]})[0]
        return str(answer.get("code", answer["type"]))

    assert [opened(talk, 1, "name"), opened(talk, 2, "n"), opened(talk, 3, "name", "n")] == ["opened", "opened", "too_many_own_views"]
    assert [opened(talk, 4), opened(talk, 5, "name")] == ["opened", "opened"], "the table itself and a view that it has already cost nothing"
    [shaped] = talk.say("shape", sub=2, request=2, offset=0, size=2, sort=[{"column": "n", "descending": True}])
    assert shaped["type"] == "frame", "a view that is given up for another does not count"
    error, _ = talk.say("shape", sub=4, request=2, offset=0, size=2, sort=[{"column": "n"}])
    assert (error["code"], error["sub"]) == ("too_many_own_views", 4)
    assert opened(other, 1, "name", "n") == "opened"


def test_too_many_messages_within_a_second_end_the_session(hub: Hub, talk_to: TalkTo, clock: Clock) -> None:
    talk = talk_to(hub, messages_per_second=3)
    assert talk.say("ping", id=7) == [{"type": "pong", "id": 7}]
    talk.say("ping", id=8)
    clock.now += 1
    for id in (9, 10, 11):
        assert talk.say("ping", id=id) == [{"type": "pong", "id": id}]
    [answer] = talk.say("ping", id=12)
    assert answer["code"] == "too_many_messages"
    assert talk.session.close_code == 4429


def test_a_slow_viewer_gets_the_newest_state_in_one_frame(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    for version in range(1, 50):
        put(table_of(hub), 1, version, version)
        talk.session.outbox.mark(1)
    [frame] = talk.hear()
    assert (frame["revision"], frame["rows"]) == (2, {"0-1": {"name": "row 1", "n": "49"}})
    assert "ids" not in frame


def test_a_slow_viewer_is_told_how_old_what_it_showed_was(hub: Hub, talk_to: TalkTo, clock: Clock) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    for waited, late in ((2.5, 2500), (0.05, None)):
        put(table_of(hub), 1, round(clock.now), version=round(clock.now))
        talk.session.outbox.mark(1)
        clock.now += waited
        talk.session.outbox.mark(1)
        [frame] = talk.hear()
        assert frame.get("late") == late


def change(hub: Hub, talk: Talk, version: int) -> None:
    put(table_of(hub), 1, version, version)
    talk.session.outbox.mark(1)


def test_frames_do_not_run_ahead_of_what_the_viewer_took(hub: Hub, talk_to: TalkTo, clock: Clock) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN, ahead=1)
    change(hub, talk, 2)
    assert talk.hear() == []
    clock.now += 0.3
    change(hub, talk, 3)
    [frame] = talk.say("took", sub=1, revision=1)
    assert (frame["rows"]["0-1"]["n"], frame["late"]) == ("3", 300)
    change(hub, talk, 4)
    [answer] = talk.say("move", sub=1, request=2, offset=0, size=2)
    assert (answer["request"], answer["rows"]["0-1"]["n"]) == (2, "4")
    change(hub, talk, 5)
    assert talk.say("took", sub=1, revision=7) == []
    assert talk.say("took", sub=9, revision=1) == []
    assert [frame["revision"] for frame in talk.say("took", sub=1, revision=3)] == [4]


def test_what_a_viewer_took_does_not_count_as_a_flood(hub: Hub, talk_to: TalkTo, clock: Clock) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN, ahead=1)
    clock.now += 2
    for revision in range(1, 300):
        change(hub, talk, revision + 1)
        [frame] = talk.say("took", sub=1, revision=revision)
        assert frame["revision"] == revision + 1
    for _ in range(200):
        assert talk.say("took", sub=1, revision=1) == []
    [error] = talk.say("took", sub=1, revision=1)
    assert (error["code"], talk.session.state) == ("too_many_messages", State.CLOSED)


def test_a_flip_is_one_whole_frame_under_the_same_subscription(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    hub.flip(generation_of(2, 5))
    [frame] = talk.hear()
    assert (frame["sub"], frame["request"], frame["generation"], frame["revision"], frame["total"]) == (1, 1, 2, 2, 5)
    assert frame["ids"] == list(frame["rows"]) == ["0-0", "0-1", "0-2"]
    hub.flip(generation_of(3, 2, (Column("name", "string"),)))
    opened, frame = talk.hear()
    assert (opened["generation"], opened["columns"]) == (3, [{"name": "name", "type": "string"}])
    assert (frame["generation"], frame["total"]) == (3, 2)


def test_a_subscription_whose_table_is_gone_waits_for_it(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    talk.say("open", **OPEN)
    hub.flip(generation_of(2, 5, names=("other",)))
    assert [(message["code"], message["sub"]) for message in talk.hear()] == [("unknown_table", 1)]
    hub.flip(generation_of(3, 5))
    assert [(message["type"], message["generation"]) for message in talk.hear()] == [("frame", 3)]


def test_what_is_opened_before_the_first_generation_is_answered_when_it_is_there(talk_to: TalkTo) -> None:
    hub = Hub()
    talk = talk_to(hub)
    assert talk.say("open", **OPEN) == []
    assert talk.say("open", **OPEN | {"sub": 2, "table": "nope"}) == []
    assert talk.say("move", sub=1, request=2, offset=1, size=2) == []
    hub.flip(generation_of(1, 10))
    error, opened, frame = talk.hear()
    assert (error["code"], error["sub"]) == ("unknown_table", 2)
    assert (opened["type"], opened["request"]) == ("opened", 2)
    assert frame["ids"] == ["0-1", "0-2"]
    assert [message["code"] for message in talk.say("close", sub=2)] == ["unknown_subscription"]


def test_generations_that_begin_anew_send_viewers_away(hub: Hub, talk_to: TalkTo) -> None:
    talk = talk_to(hub)
    hub.flip(generation_of(0, 1))
    assert (talk.session.state, talk.session.close_code) == (State.CLOSED, 1012)


def test_the_state_of_the_feed_is_told_once(hub: Hub, talk_to: TalkTo) -> None:
    talk, stranger = talk_to(hub), talk_to(hub, login=False)
    hub.say("stale", "The broker is gone.")
    hub.say("stale", "The broker is gone.")
    assert talk.hear() == [{"type": "feed", "state": "stale", "message": "The broker is gone."}]
    assert stranger.hear() == []


def test_viewers_of_one_window_share_one_encoding_of_each_change(hub: Hub, talk_to: TalkTo, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []

    def counted(*arguments: Any) -> bytes:
        made.append(frame_body(*arguments))
        return made[-1]

    monkeypatch.setattr("tablecast.server.subscription.frame_body", counted)
    talks = [talk_to(hub) for _ in range(3)]
    for sub, talk in enumerate(talks, 1):
        talk.say("open", sub=sub, request=sub, table="users", offset=0, size=5, search="row")
    assert len(made) == 1
    for version in (1, 2):
        put(table_of(hub), 3, 6 + version, version)
        for sub, talk in enumerate(talks, 1):
            talk.session.outbox.mark(sub)
        frames = [talk.hear()[-1] for talk in talks]
        assert [(frame["sub"], frame["rows"]["0-3"]["n"]) for frame in frames] == [(sub, str(6 + version)) for sub in (1, 2, 3)]
        assert len(made) == 1 + version
