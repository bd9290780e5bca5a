"""Siblings that follow a script: one crashes, one stalls, one floods, one is told wrong."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablecast.errors import BrokerFailed, BrokerUnreachable, ConfigurationError, PortInUse
from tablecast.processes import sibling
from tablecast.processes.exit_codes import TERMINAL, exit_code, told
from tablecast.processes.folder_lock import alive
from tablecast.processes.sibling import Sibling, pause_before, tablecast_command
from tablecast.processes.supervisor import Supervisor

STEADY = "import signal; print('steady', flush=True); signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('stubborn', flush=True)\nwhile True: signal.pause()"
WRONG = "import sys; print('port is not a number', flush=True); sys.exit(2)"
FLOOD = "import signal; print('x' * 300_000); print('[flood] own name'); print('last', flush=True); signal.pause()"
HOSTILE = (
    r"import signal, sys; sys.stdout.buffer.write(b'\x1b]0;owned\x07\r[orchestrator] ready\xc2\x9b\xff\n'); print('last', flush=True); signal.pause()"
)
CRASH = "import sys; sys.exit(7)"


def script(name: str, code: str, after: Callable[[], bool] | None = None) -> Sibling:
    return Sibling(name, (sys.executable, "-c", code), after=after)


class Run:
    """A supervisor in a thread, with its lines."""

    def __init__(self, *siblings: Sibling, cap: float = 4.0) -> None:
        self.lines: list[str] = []
        self.code: int | None = None
        self.supervisor = Supervisor(siblings, say=self.lines.append, cap=cap)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.code = self.supervisor.run()

    def until(self, condition: Callable[[], object], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.01)

    def said(self, text: str) -> Callable[[], bool]:
        return lambda: any(text in line for line in list(self.lines))

    def count(self, text: str) -> int:
        return sum(text in line for line in list(self.lines))

    def end(self, asks: int = 1, within: float = 10.0) -> float:
        """Asks for the end and returns the seconds that it took."""
        started = time.monotonic()
        for _ in range(asks):
            self.supervisor.stop()
        self._thread.join(within)
        assert not self._thread.is_alive(), self.lines
        return time.monotonic() - started


Runner = Callable[..., Run]


@pytest.fixture
def run() -> Iterator[Runner]:
    runs: list[Run] = []

    def start(*siblings: Sibling, cap: float = 4.0) -> Run:
        runs.append(Run(*siblings, cap=cap))
        return runs[-1]

    yield start
    for each in runs:
        each.end(asks=2)


def test_one_that_is_killed_comes_back_and_takes_nobody_with_it(run: Runner) -> None:
    running = run(script("a", STEADY), script("b", STEADY))
    running.until(lambda: running.count("steady") == 2)
    before = running.supervisor.pids()
    os.kill(before["a"], signal.SIGKILL)
    running.until(lambda: running.count("[a] steady") == 2)
    after = running.supervisor.pids()
    assert after["b"] == before["b"]
    assert after["a"] != before["a"]
    assert "[supervisor] a ended (killed by SIGKILL); starting again in 0.15 s" in running.lines


def test_one_that_crashes_again_and_again_waits_longer_each_time(run: Runner) -> None:
    running = run(script("a", CRASH), script("b", STEADY))
    running.until(lambda: running.count("a ended (exit code 7)") >= 4)
    pauses = [line.split(" in ")[1] for line in running.lines if "a ended" in line]
    assert pauses[:4] == ["0.15 s", "0.22 s", "0.34 s", "0.51 s"]
    assert running.count("b started") == 1


def test_the_pauses_are_capped() -> None:
    assert [round(pause_before(failures), 2) for failures in (0, 3, 6, 100)] == [0.15, 0.51, 1.71, 10.0]


def test_a_long_life_forgives_earlier_deaths(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sibling, "STEADY_SECONDS", 0.0)
    running = run(script("a", CRASH))
    running.until(lambda: running.count("a ended") >= 4)
    assert running.count("starting again in 0.15 s") >= 4


def test_a_wrong_configuration_stops_everything_and_says_why(run: Runner) -> None:
    running = run(script("a", STEADY), script("b", WRONG))
    running.until(lambda: running.code is not None)
    assert running.code == TERMINAL
    assert running.lines.index("[b] port is not a number") < next(i for i, line in enumerate(running.lines) if "b cannot run" in line)
    assert running.supervisor.pids() == {}


def test_a_stop_ends_all(run: Runner) -> None:
    running = run(script("a", STEADY), script("b", STEADY))
    running.until(lambda: running.count("steady") == 2)
    pids = running.supervisor.pids().values()
    assert running.end() < 4
    assert running.code == 0
    assert not any(alive(pid) for pid in pids)


def test_one_that_does_not_listen_is_killed_after_the_cap(run: Runner) -> None:
    running = run(script("a", STUBBORN), script("b", STEADY), cap=0.5)
    running.until(lambda: running.count("stubborn") and running.count("steady"))
    assert 0.5 <= running.end() < 4
    assert "[supervisor] killing a, which did not end within 0.5 s" in running.lines


def test_asked_twice_it_kills_at_once(run: Runner) -> None:
    running = run(script("a", STUBBORN), cap=60)
    running.until(running.said("stubborn"))
    assert running.end(asks=2) < 4


def test_what_a_dead_one_left_is_removed(run: Runner, tmp_path: Path) -> None:
    leaves = "import subprocess, sys\nchild = subprocess.Popen(['sleep', '60'])\nprint(child.pid, flush=True)\nsys.exit(1)"
    running = run(script("a", leaves))
    running.until(running.said("a ended"))
    left = int(next(line for line in running.lines if line.startswith("[a] ")).removeprefix("[a] "))
    running.until(lambda: not alive(left))


def test_lines_get_a_name_once_and_a_flood_does_not_stall(run: Runner) -> None:
    running = run(script("flood", FLOOD))
    running.until(running.said("[flood] last"))
    assert "[flood] own name" in running.lines
    assert sum(line.count("x") for line in running.lines) == 300_000


def test_one_waits_for_a_condition(run: Runner, tmp_path: Path) -> None:
    running = run(script("late", STEADY, after=(tmp_path / "address.json").exists), script("a", STEADY))
    running.until(running.said("[a] steady"))
    assert running.count("late started") == 0
    (tmp_path / "address.json").touch()
    running.until(running.said("[late] steady"))


def test_patience_ends(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sibling, "PATIENCE_SECONDS", 0.1)
    running = run(script("late", STEADY, after=lambda: False))
    running.until(running.said("[late] steady"))


def test_a_command_of_ours() -> None:
    assert tablecast_command("serve", "--config", "x.toml") == (sys.executable, "-m", "tablecast", "serve", "--config", "x.toml")


def test_exit_codes_are_told_in_words() -> None:
    assert told(3) == "exit code 3"
    assert told(-15) == "killed by SIGTERM"
    assert told(-200) == "killed by signal 200"


def test_errors_that_need_a_person_are_terminal() -> None:
    assert exit_code(ConfigurationError([])) == exit_code(PortInUse("h", 1, "server.port")) == TERMINAL
    assert exit_code(BrokerFailed("x", Path("log"))) == exit_code(BrokerUnreachable("source", "s", "r")) == 1


def test_one_that_gives_way_lets_the_others_go_first(run: Runner) -> None:
    """It waits until it has been told to: a process may begin before its supervisor has done so."""
    before = os.nice(0)
    patient = f"import os, signal, time\nwhile os.nice(0) == {before}: time.sleep(0.01)\nprint('nice', os.nice(0), flush=True); signal.pause()"
    running = run(Sibling("patient", (sys.executable, "-c", patient), niceness=3), script("steady", STEADY))
    running.until(running.said(f"nice {before + 3}"))


def test_the_lines_of_a_sibling_steer_no_terminal(run: Runner) -> None:
    running = run(script("one", HOSTILE))
    running.until(running.said("last"))
    [line] = [line for line in running.lines if "owned" in line]
    assert line == "[one] \\x1b]0;owned\\x07\\r[orchestrator] ready\\x9b�"
