"""A peer's process, by a real one: what it says is heard, and it never outlives us."""

import sys
import threading
from pathlib import Path

import psutil
import pytest

from bench.peers.process import Said, peer_process
from bench.stack import StackError

OBEDIENT = """
import json, os, sys
print("a library greets")
print(json.dumps({"pid": os.getpid()}), flush=True)
print(json.dumps({"rows": [1]}), flush=True)
print(json.dumps({"rows": [2]}), flush=True)
sys.stdin.read()
"""
DEAF = """
import json, os, time
print(json.dumps({"pid": os.getpid()}), flush=True)
time.sleep(600)
"""
WITH_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {DEAF!r}])
sys.stdin.read()
"""


def has_ended(process: psutil.Process) -> bool:
    """Whoever has to may still collect it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_what_it_says_is_heard_until_it_ends_with_the_block(tmp_path: Path) -> None:
    heard: list[Said] = []
    both = threading.Event()

    def hear(said: Said) -> None:
        heard.append(said)
        if len(heard) == 2:
            both.set()

    with peer_process([sys.executable, "-c", OBEDIENT], tmp_path / "peer.log", hear) as told:
        process = psutil.Process(told["pid"])
        assert both.wait(30)
    assert heard == [{"rows": [1]}, {"rows": [2]}]
    assert has_ended(process)


@pytest.mark.parametrize("program", [DEAF, WITH_CHILD], ids=["itself", "its child"])
def test_who_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr("bench.peers.process.END_SECONDS", 0.2)
    with peer_process([sys.executable, "-c", program], tmp_path / "peer.log") as told:
        process = psutil.Process(told["pid"])
    assert has_ended(process)


def test_one_that_fails_at_its_start_is_told_with_its_last_lines(tmp_path: Path) -> None:
    with (
        pytest.raises(StackError, match=r"(?s)peer: ended before it was up.*no such option"),
        peer_process([sys.executable, "-c", "raise SystemExit('no such option')"], tmp_path / "peer.log"),
    ):
        pytest.fail("it was never up")


def test_a_wait_in_vain_is_told_with_its_last_lines(tmp_path: Path) -> None:
    complains = "import sys; print('the topic is gone', file=sys.stderr, flush=True); print('{}', flush=True); sys.stdin.read()"
    with (
        pytest.raises(StackError, match=r"(?s)peer: nothing was shown.*the topic is gone"),
        peer_process([sys.executable, "-c", complains], tmp_path / "peer.log"),
    ):
        raise TimeoutError("nothing was shown")
