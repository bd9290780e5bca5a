"""A table in the terminal, from a real server."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from tablecast.cli import main
from tablecast.client.model import WindowState
from tablecast.client.tail import Lines, Look, Screen, Sight, backoff, tail
from tablecast.errors import ServerRefused, ServerUnreachable
from tablecast.server.hub import Hub
from tablecast.wire.messages import ColumnInfo
from tests.unit.server.talking import KEY, Serving, generation_of, put, table_of

COLUMNS = (ColumnInfo("name", "string"), ColumnInfo("n", "int64"))


class Watcher:
    """Remembers what was shown, and acts on it: the tests' way to say what happens next."""

    def __init__(self, *steps: Callable[[Sight], bool]) -> None:
        self.steps = list(steps)
        self.sights: list[Sight] = []

    def show(self, sight: Sight) -> None:
        self.sights.append(sight)
        if self.steps and self.steps[0](sight):
            self.steps.pop(0)

    def going(self) -> bool:
        return bool(self.steps)


def last_name(sight: Sight) -> str:
    return str(sight.window.rows[-1][1]["name"]) if sight.window and sight.window.rows else ""


def test_the_newest_rows_are_shown_and_follow(hub: Hub, serving: Serving) -> None:
    def change(sight: Sight) -> bool:
        if last_name(sight) == "row 9":
            put(table_of(hub), 10, 5)
            return True
        return False

    watcher = Watcher(change, lambda sight: sight.window is not None and sight.window.total == 10)
    with serving(hub) as url:
        tail(url, KEY, Look("users", 3), watcher, watcher.going)
    assert [row["name"] for _, row in watcher.sights[-1].window.rows] == ["row 7", "row 8", "row 9"]  # type: ignore[union-attr]
    assert watcher.sights[-1].state == "live"


def test_a_server_that_goes_away_is_waited_for(hub: Hub, serving: Serving) -> None:
    servers = serving(hub)
    url = servers.__enter__()

    def end(sight: Sight) -> bool:
        if sight.window is None:
            return False
        servers.__exit__(None, None, None)
        return True

    def gone(sight: Sight) -> bool:
        return sight.state.startswith("connecting:") and last_name(sight) == "row 9"

    watcher = Watcher(end, gone)
    tail(url, KEY, Look("users", 3), watcher, watcher.going)
    assert gone(watcher.sights[-1])


def test_what_cannot_be_shown_is_raised(hub: Hub, serving: Serving) -> None:
    with serving(hub) as url:
        with pytest.raises(ServerRefused, match="no table 'nope'"):
            tail(url, KEY, Look("nope"), Watcher())
        with pytest.raises(ServerRefused, match="not the one"):
            tail(url, "wrong key", Look("users"), Watcher())
    with pytest.raises(ServerUnreachable):
        tail(url, KEY, Look("users"), Watcher())


def sight(*rows: tuple[str, dict[str, str]], state: str = "live") -> Sight:
    return Sight(COLUMNS, WindowState(1, len(rows), 0, rows), state)


def test_a_pipe_gets_only_what_is_new() -> None:
    lines: list[str] = []
    shown = Lines(lines.append)
    shown.show(Sight((), None, "connecting"))
    shown.show(sight(("a", {"n": "1"}), ("b", {"n": "1"})))
    shown.show(sight(("a", {"n": "1"}), ("b", {"n": "2"}), ("c", {"n": "3"})))
    assert [json.loads(line)["n"] for line in lines] == ["1", "1", "2", "3"]


def test_a_pipe_that_ends_in_a_terminal_steers_it_neither() -> None:
    lines: list[str] = []
    Lines(lines.append).show(sight(("a", {"n": "\x1b[2J\x9b2J\u202e\x7f"})))
    [line] = lines
    assert line.isprintable()
    assert json.loads(line) == {"n": "\x1b[2J\x9b2J\u202e\x7f"}


def test_a_terminal_shows_rows_and_the_state_and_obeys_no_data() -> None:
    output = io.StringIO()
    with Screen(Console(file=output, force_terminal=True, width=100), "users") as screen:
        screen.show(sight(("a", {"name": "Zoë \x1b]0;evil\x07", "n": "7"}), state="stale: the broker is gone"))
    text = output.getvalue()
    assert "users · rows 1-1 of 1 · generation 1 · stale: the broker is gone" in text
    assert "Zoë �]0;evil�" in text


def test_tries_are_further_and_further_apart_up_to_a_limit() -> None:
    assert backoff(0, 1.0) == 0.15
    assert backoff(0, 0.0) == 0.075
    assert backoff(2, 1.0) == pytest.approx(0.3375)
    assert backoff(50, 1.0) == 5.0


def test_the_command_line_tells_what_is_wrong(
    hub: Hub, serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TABLECAST_SERVER_PSK", raising=False)
    assert main(["tail", "users"]) == 2
    assert main(["tail", "users", "--key", KEY, "--sort", "name:up"]) == 2
    assert main(["tail", "users", "--key", KEY, "--filter", "{"]) == 2
    with serving(hub) as url:
        assert main(["tail", "nope", "--url", f"{url}/#key={KEY.replace(' ', '%20')}"]) == 1
    told = capsys.readouterr().err
    for words in ("TABLECAST_SERVER_PSK", "COLUMN:desc", "--filter", "no table 'nope'"):
        assert words in told


def test_the_words_of_a_server_do_not_steer_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*_: object) -> None:
        raise ServerRefused("bad_view", "That is wrong: \x1b]0;owned\x07\x9b2J.", "Try \u202eagain.")

    monkeypatch.setattr("tablecast.client.exporting.export", refused)
    assert main(["export", "users", "users.csv", "--key", KEY]) == 1
    assert capsys.readouterr().err == "That is wrong: \\x1b]0;owned\\x07\\x9b2J. Try \\u202eagain.\n"


def test_a_swap_of_the_table_is_followed(hub: Hub, serving: Serving) -> None:
    watcher = Watcher(lambda sight: sight.window is not None)
    with serving(hub) as url:
        tail(url, KEY, Look("user", 2, sort=[("name", True)]), watcher, watcher.going)
        hub.generation = generation_of(2, 4)
        again = Watcher(lambda sight: sight.window is not None)
        tail(url, KEY, Look("user", 2, sort=[("name", True)]), again, again.going)
    assert [last_name(one.sights[-1]) for one in (watcher, again)] == ["row 8", "row 2"]
