"""A child ends when its lifeline does."""

import os
import subprocess
import sys

import pytest

from tablecast.processes.exit_codes import LIFELINE_LOST
from tablecast.processes.lifeline import VARIABLE, hold_lifeline

SEEN = "print('up', sys.stdin.read() == '', flush=True)"
GRACEFUL = f"""
import signal, sys
from tablecast.processes.lifeline import hold_lifeline
signal.signal(signal.SIGTERM, lambda *_: (print("graceful", flush=True), sys.exit(0)))
hold_lifeline()
{SEEN}
signal.pause()
"""
BUSY = f"""
import signal, sys
from tablecast.processes.lifeline import hold_lifeline
signal.signal(signal.SIGTERM, signal.SIG_IGN)
hold_lifeline(cap=0.2)
{SEEN}
while True:
    pass
"""


def start(script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, VARIABLE: "1"}
    )


@pytest.mark.parametrize(("script", "code", "last"), [(GRACEFUL, 0, "graceful\n"), (BUSY, LIFELINE_LOST, "")])
def test_the_end_of_the_lifeline_ends_the_child(script: str, code: int, last: str) -> None:
    with start(script) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "up True\n", "standard input is empty for everybody else, and the lifeline is still held"
        child.stdin.close()
        assert child.wait(10) == code
        assert child.stdout.read() == last


def test_without_the_variable_standard_input_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not hold_lifeline()
