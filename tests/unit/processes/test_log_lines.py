"""Log lines, for people and for programs."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tablecast.processes.log_lines import set_up_logging


@contextmanager
def bare_root() -> Iterator[None]:
    """As in a program that has just begun: pytest listens to the root logger too."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_text_is_the_message_alone() -> None:
    stream = io.StringIO()
    with bare_root():
        set_up_logging("text", stream)
        logging.getLogger("tablecast.x").info("[server] listens at %s", "there", extra={"url": "there"})
    assert stream.getvalue() == "[server] listens at there\n"


HOSTILE = "x\n[orchestrator] ready\r\x1b[2J\x85\u2028\u202e\ud83d"


@pytest.mark.parametrize("format", ["text", "json"])
def test_what_a_stranger_wrote_makes_no_line_of_its_own(format: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    log = logging.getLogger("tablecast.x")
    with bare_root():
        set_up_logging(format, stream)
        log.info("[server] %s", HOSTILE, extra={"key": HOSTILE})
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            log.exception("[server] it failed: %s", HOSTILE)
    stream.seek(0)
    lines = stream.read().splitlines()
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if line.startswith("[orchestrator]")] == []
    if format == "json":
        assert [json.loads(line)["level"] for line in lines] == ["info", "error"]
        assert json.loads(lines[0])["key"] == HOSTILE
    else:
        assert [line.startswith("    ") for line in lines[:3]] == [False, False, True]


def test_json_is_one_object_a_line_with_its_fields_and_its_trace() -> None:
    stream = io.StringIO()
    log = logging.getLogger("tablecast.x")
    with bare_root():
        set_up_logging("json", stream)
        log.info("[server] shows generation %d", 3, extra={"generation": 3, "tables": {"a"}})
        try:
            raise KeyError("ö")
        except KeyError:
            log.exception("two\nlines")
        log.debug("not told")
    first, second = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert first.pop("time").endswith("Z")
    assert first == {"level": "info", "logger": "tablecast.x", "message": "[server] shows generation 3", "generation": 3, "tables": "{'a'}"}
    assert (second["level"], second["message"]) == ("error", "two\nlines")
    assert "KeyError: 'ö'" in second["error"]
