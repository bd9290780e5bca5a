"""Programs of peers: how they are asked, and that they end with whoever asks."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from bench.peers import environment
from bench.peers.asked import Asked
from bench.stack import REPOSITORY, StackError

ECHO = """
import json, sys
print("not an answer", file=sys.stderr)
print(json.dumps({"up": True}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    if question["do"] == "die":
        sys.exit(3)
    if question["do"] != "nothing":
        print(json.dumps({"error": "no"} if question["do"] == "fail" else {"did": question["do"]}), flush=True)
"""
ASKER = """
import sys, time
from pathlib import Path
from bench.peers.asked import Asked
with Asked([sys.executable, "-c", sys.argv[2]], Path(sys.argv[1]), 30) as program:
    print(program.process.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def echo(tmp_path: Path) -> Asked:
    return Asked([sys.executable, "-c", ECHO], tmp_path / "echo.log", 30)


def test_each_question_has_its_answer(echo: Asked) -> None:
    with echo as program:
        assert program.greeting == {"up": True}
        assert [program.ask({"do": what}, 30)["did"] for what in ("a", "b")] == ["a", "b"]
    assert program.process.poll() == 0


@pytest.mark.parametrize(
    ("what", "seconds", "said"),
    [("fail", 30.0, "is an error: no"), ("nothing", 0.05, "did not come within 0.05 s"), ("die", 30.0, "it ended before")],
)
def test_no_answer_is_told_with_the_last_lines_of_the_log(echo: Asked, what: str, seconds: float, said: str) -> None:
    with echo as program, pytest.raises(StackError, match=said) as caught:
        program.ask({"do": what}, seconds)
    assert "not an answer" in str(caught.value)


def test_one_that_does_not_come_up_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It does not read its input either, so it is killed.
    monkeypatch.setattr("bench.peers.asked.END_SECONDS", 0.05)
    program = Asked([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path / "log", 0.05)
    with pytest.raises(StackError, match="its greeting did not come"):
        program.__enter__()
    assert program.process.poll() == -9


def test_it_ends_when_its_asker_is_killed(tmp_path: Path) -> None:
    asker = subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path / "log"), ECHO], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    assert asker.stdout is not None
    with asker.stdout:
        program = psutil.Process(int(asker.stdout.readline()))
    asker.kill()
    asker.wait()
    deadline = time.monotonic() + 10
    while program.is_running() and program.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run to fetch packages into an empty folder."""
    ran: list[list[str]] = []
    monkeypatch.setattr(environment, "PEERS", tmp_path)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    return ran


def test_node_packages_are_fetched_once_for_each_version(commands: list[list[str]], tmp_path: Path) -> None:
    fetch: Callable[[str], Path] = lambda package: environment.node_modules_with("a-peer", (package,), lambda line: None)  # noqa: E731
    assert [fetch("client@1.0.0"), fetch("client@1.0.0"), fetch("client@1.0.1")] == [tmp_path / "a-peer"] * 3
    assert [command[-1] for command in commands] == ["client@1.0.0", "client@1.0.1"]
    assert environment.NODE.exists()
    assert Path(commands[0][1]).exists()
