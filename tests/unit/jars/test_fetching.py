"""Fetching with a scripted Java in Ivy's place: it downloads, breaks off, or delivers the wrong bytes."""

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tablecast.errors import JarsUnavailable
from tablecast.jars import fetching
from tablecast.jars.fetching import complete, is_complete, locked_from
from tablecast.jars.lock import Lock, LockedJar, format_lock, parse_lock

JARS = {"spark/alpha-1.0.jar": b"alpha", "kafka/beta-2.1.jar": b"beta beta"}
FAKE_IVY = """#!{python}
import json, os, sys
from pathlib import Path
here = Path(__file__).parent
if "-version" in sys.argv:
    sys.exit(print('openjdk version "17.0.1"', file=sys.stderr))
calls = here / "calls"
calls.write_text(calls.read_text() + "x" if calls.exists() else "x")
script = json.loads((here / "script.json").read_text())
turn = script[min(len(calls.read_text()), len(script)) - 1]
into = Path(sys.argv[sys.argv.index("-retrieve") + 1].split("/[conf]")[0])
cache = Path(sys.argv[sys.argv.index("-cache") + 1])
cache.mkdir(parents=True, exist_ok=True)
for path, text in turn.get("jars", {{}}).items():
    cached = cache / path.split("/")[1]
    if not cached.exists():
        cached.write_text(text)
        artifact, revision = cached.stem.rsplit("-", 1)
        print(f"\\t[SUCCESSFUL ] org.x#{{artifact}};{{revision}}!{{artifact}}.jar (3ms)")
    (into / path).parent.mkdir(parents=True, exist_ok=True)
    (into / path).symlink_to(cached)
print(turn.get("says", ""))
sys.exit(turn.get("code", 0))
"""

Script = Callable[..., Path]


def locked(path: str, data: bytes) -> LockedJar:
    conf, name = path.split("/")
    return LockedJar(conf, name, hashlib.sha256(data).hexdigest(), len(data))


@pytest.fixture
def lock() -> Lock:
    return parse_lock(format_lock(locked(path, data) for path, data in JARS.items()))


@pytest.fixture
def ivy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Writes what each call of the fake does, and returns its folder."""
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(FAKE_IVY.format(python=sys.executable))
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))

    def script(*turns: dict[str, object]) -> Path:
        (home / "bin" / "script.json").write_text(json.dumps(turns))
        return home / "bin"

    return script


def good() -> dict[str, object]:
    return {"jars": {path: data.decode() for path, data in JARS.items()}}


def calls(ivy: Path) -> int:
    return len((ivy / "calls").read_text()) if (ivy / "calls").exists() else 0


def test_all_jars_are_placed_and_the_second_call_starts_nothing(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder, fake = tmp_path / "jars", ivy(good())
    complete(folder, lock)
    assert {path: (folder / path).read_bytes() for path in JARS} == JARS
    started = time.monotonic()
    complete(folder, lock)
    assert time.monotonic() - started < 0.2
    assert calls(fake) == 1


def test_a_jar_that_vanished_or_was_cut_is_brought_again(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder, fake = tmp_path / "jars", ivy(good())
    complete(folder, lock)
    (folder / "kafka/beta-2.1.jar").unlink()
    assert not is_complete(folder, lock)
    complete(folder, lock)
    assert (folder / "kafka/beta-2.1.jar").read_bytes() == JARS["kafka/beta-2.1.jar"]
    assert calls(fake) == 2


def test_sound_jars_without_a_stamp_are_hashed_and_not_fetched(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder, fake = tmp_path / "jars", ivy(good())
    complete(folder, lock)
    (folder / fetching.STAMP).unlink()
    complete(folder, lock)
    assert calls(fake) == 1
    assert is_complete(folder, lock)


def test_wrong_bytes_are_fetched_once_more_and_never_placed(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder = tmp_path / "jars"
    fake = ivy({"jars": {"spark/alpha-1.0.jar": "alpha", "kafka/beta-2.1.jar": "beta cut!"}}, good())
    complete(folder, lock)
    assert (folder / "kafka/beta-2.1.jar").read_bytes() == JARS["kafka/beta-2.1.jar"]
    assert calls(fake) == 2


def test_bytes_that_stay_wrong_are_refused_by_name(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    ivy({"jars": {"spark/alpha-1.0.jar": "alpha", "kafka/beta-2.1.jar": "evil evil"}})
    with pytest.raises(JarsUnavailable, match=r"kafka/beta-2\.1\.jar is not what jars\.lock says"):
        complete(tmp_path / "jars", lock)
    assert not (tmp_path / "jars/kafka/beta-2.1.jar").exists()
    assert not is_complete(tmp_path / "jars", lock)


def test_ivys_own_reason_is_told(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    ivy({"code": 1, "says": "\tServer access error at url https://me:pw@repo.example/a.pom (java.net.ConnectException: Connection refused)"})
    with pytest.raises(JarsUnavailable, match="Connection refused") as raised:
        complete(tmp_path / "jars", lock)
    assert "pw" not in str(raised.value)


def test_jars_of_an_older_lock_are_removed(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder = tmp_path / "jars"
    ivy(good())
    (folder / "kafka").mkdir(parents=True)
    (folder / "kafka/beta-1.0.jar").write_bytes(b"old")
    complete(folder, lock)
    assert sorted(jar.path for jar in locked_from(folder)) == sorted(JARS)


def test_two_at_once_fetch_once(tmp_path: Path, ivy: Script, lock: Lock) -> None:
    folder, fake = tmp_path / "jars", ivy(good())
    threads = [threading.Thread(target=complete, args=(folder, lock)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert is_complete(folder, lock)
    assert calls(fake) == 1


def test_quiet_lines_where_there_is_no_terminal(tmp_path: Path, ivy: Script, lock: Lock, capfd: pytest.CaptureFixture[str]) -> None:
    ivy(good())
    complete(tmp_path / "jars", lock)
    assert capfd.readouterr().err.splitlines() == ["[jars] fetching 2 jars (0 MB)", "[jars] jars complete: 2 (0 MB)"]


def test_the_command_explains_itself() -> None:
    answer = subprocess.run([sys.executable, "-m", "tablecast.jars"], capture_output=True, text=True, check=False, env=os.environ)
    assert answer.returncode == 2
    assert "jars.lock" in answer.stderr
