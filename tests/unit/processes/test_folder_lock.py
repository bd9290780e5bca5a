"""One at a time, also when the holder is killed."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tablecast.processes.folder_lock import FolderLock, alive

HOLD = """
import sys
from pathlib import Path
from tablecast.processes.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.read()
"""


def test_the_second_is_told_who_holds_it(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    assert first.acquire()
    assert not second.acquire()
    assert second.holder() == os.getpid()
    first.release()
    with second:
        assert second.acquire()
    assert first.acquire()
    first.release()


def test_a_waiter_gets_it_when_it_is_free(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    assert first.acquire()
    threading.Timer(0.2, first.release).start()
    assert second.acquire(wait=10)
    second.release()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        lock = FolderLock(tmp_path / "lock")
        assert not lock.acquire()
        holder.kill()
    assert lock.acquire(wait=5)
    lock.release()


def test_an_heir_keeps_it_beyond_the_holders_end(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    assert first.acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[first.fileno()]) as heir:
        first.bequeath(heir.pid)
        first.release()
        assert not second.acquire()
        assert (second.holder(), second.heir()) == (os.getpid(), heir.pid)
    assert second.acquire(wait=5)
    assert second.heir() == 0
    second.release()


def test_a_lock_that_is_not_held_has_no_descriptor(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not held"):
        FolderLock(tmp_path / "lock").fileno()


def test_who_is_alive() -> None:
    assert alive(os.getpid())
    assert not alive(0)
    with subprocess.Popen(["true"]) as gone:
        pass
    assert not alive(gone.pid)


def test_one_that_ended_and_was_not_collected_is_not_alive() -> None:
    gone = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert alive(gone.pid)
    gone.kill()
    deadline = time.monotonic() + 5
    while alive(gone.pid):
        assert time.monotonic() < deadline
    assert Path(f"/proc/{gone.pid}").exists() or sys.platform != "linux"
    gone.communicate()
