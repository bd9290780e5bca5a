"""What a stranger wrote is shown, and steers no terminal and no log."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecast.printable import escaped, escaped_json, plain

STEERING = [
    pytest.param("\x1b]0;owned\x07", id="terminal title"),
    pytest.param("\x1b[2J\x1b[H", id="clears the screen"),
    pytest.param("\x9b31m", id="eight bit escape"),
    pytest.param("\r[orchestrator] ready", id="overwrites the line"),
    pytest.param("\n[orchestrator] ready", id="a line of its own"),
    pytest.param("\u2028[orchestrator] ready", id="line separator"),
    pytest.param("\x85[orchestrator] ready", id="next line"),
    pytest.param("\u202egnp.exe", id="right to left"),
    pytest.param("\x7f\x08\x00", id="delete and backspace"),
    pytest.param("\ud83d", id="half a character"),
]


@pytest.mark.parametrize("text", STEERING)
def test_nothing_steers(text: str) -> None:
    for shown in (plain(text), escaped(text), escaped_json(json.dumps(text, ensure_ascii=False))):
        assert shown.isprintable()
        shown.encode()


def test_what_people_write_stays_as_it_is() -> None:
    for text in ("Zoë", "👨\u200d👩\u200d👧", "می\u200cخواهم", "1\u00a0234,5", "数\u3000据", r"C:\new"):
        assert plain(text) == escaped(text) == escaped_json(text) == text


def test_signs_say_what_was_there() -> None:
    assert plain("a\nb\tc\x9b") == "a␤b c�"
    assert escaped("a\nb\x1b\u202e") == r"a\nb\x1b\u202e"
    assert escaped("two\nlines\x1b", keep="\n") == "two\nlines\\x1b"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_says_the_same_to_every_reader(text: str) -> None:
    assert json.loads(escaped_json(json.dumps(text, ensure_ascii=False))) == text
