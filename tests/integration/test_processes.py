"""The supervisor as a program of its own, with a real broker among its siblings, under real signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import wait_for_broker
from tablecast.kafka.broker_files import read_address
from tablecast.processes.folder_lock import alive
from tablecast.settings import Settings

STOP_SECONDS = 5.0
BROKER = """
import sys
from pathlib import Path
from tablecast.jars import Jars
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.processes.lifeline import hold_lifeline
from tablecast.processes.stop_event import stop_event
from tablecast.settings import Settings
stop = stop_event()
hold_lifeline()
settings = Settings().replaced("pipeline", state_dir=Path(sys.argv[1]))
EmbeddedBroker(settings, Jars(Path(sys.argv[2]))).run(stop, on_up=lambda kafka: print("up", flush=True))
"""
IDLE = """
from tablecast.processes.lifeline import hold_lifeline
from tablecast.processes.stop_event import stop_event
stop = stop_event()
hold_lifeline()
print("idle", flush=True)
stop.wait()
"""
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('stubborn', flush=True)\nwhile True: signal.pause()"
SUPERVISOR = """
import json, sys
from tablecast.processes.sibling import Sibling
from tablecast.processes.supervisor import Supervisor
siblings = [Sibling(name, (sys.executable, "-c", *command)) for name, command in json.loads(sys.argv[1]).items()]
sys.exit(Supervisor(siblings, cap=float(sys.argv[2])).run())
"""


class Program:
    """A supervisor as a user starts it, with its lines and its whole family."""

    def __init__(self, siblings: dict[str, list[str]], cap: float, output: Path) -> None:
        self._output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISOR, json.dumps(siblings), str(cap)], stdout=file, stderr=file, start_new_session=True
            )

    def lines(self) -> list[str]:
        return self._output.read_text().splitlines()

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.lines()
            time.sleep(0.02)

    def until_said(self, text: str, times: int = 1) -> None:
        self.until(lambda: sum(text in line for line in self.lines()) >= times)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def sibling(self, name: str) -> int:
        """The process that was started last under this name."""
        started = [line for line in self.lines() if line.startswith(f"[supervisor] {name} started")]
        return int(started[-1].split()[-1].rstrip(")"))

    def end(self) -> None:
        if self.process.poll() is None:
            for child in self.family():
                child.kill()
            self.process.kill()
        self.process.wait()


Start = Callable[..., Program]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    programs: list[Program] = []

    def start(siblings: dict[str, list[str]], cap: float = 4.0) -> Program:
        programs.append(Program(siblings, cap, tmp_path / f"output-{len(programs)}"))
        return programs[-1]

    yield start
    for program in programs:
        program.end()


@pytest.fixture
def settings(tmp_path: Path, jars_dir: Path) -> Settings:
    return Settings().replaced("pipeline", state_dir=tmp_path / "state", jars=jars_dir)


@pytest.fixture
def family(settings: Settings, jars_dir: Path) -> dict[str, list[str]]:
    return {"broker": [BROKER, str(settings.pipeline.state_dir), str(jars_dir)], "server": [IDLE]}


def all_gone(processes: list[psutil.Process], within: float) -> bool:
    deadline = time.monotonic() + within
    while (left := any(alive(process.pid) for process in processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not left


def test_a_killed_supervisor_leaves_nobody_behind(start: Start, family: dict[str, list[str]]) -> None:
    program = start(family)
    program.until_said("[broker] up")
    program.until_said("[server] idle")
    members = program.family()
    assert len(members) == 3, "the broker, its Java, and the server"
    program.process.kill()
    program.process.wait()
    assert all_gone(members, STOP_SECONDS)


def test_a_killed_broker_comes_back_with_its_topics_and_ctrl_c_stops_all_in_order(
    start: Start, family: dict[str, list[str]], settings: Settings
) -> None:
    program = start(family)
    program.until_said("[broker] up")
    program.until_said("[server] idle")
    address, server = read_address(settings.broker_dir), program.sibling("server")
    Topics(wait_for_broker(settings, 10)).ensure("kept", 1)
    os.kill(program.sibling("broker"), signal.SIGKILL)
    program.until_said("[broker] up", times=2)
    assert read_address(settings.broker_dir) == address
    assert Topics(wait_for_broker(settings, 10)).partitions("kept") == 1
    assert program.sibling("server") == server
    members = program.family()
    assert len(members) == 3, "the broker, its Java, and the server"
    program.process.send_signal(signal.SIGINT)
    assert program.process.wait(STOP_SECONDS) == 0
    assert all_gone(members, 0)
    assert not any("killing" in line for line in program.lines())


def test_a_second_ctrl_c_does_not_wait(start: Start) -> None:
    program = start({"a": [STUBBORN]}, cap=60)
    program.until_said("stubborn")
    program.process.send_signal(signal.SIGINT)
    program.until_said("stopping")
    program.process.send_signal(signal.SIGINT)
    assert program.process.wait(STOP_SECONDS) == 0
    program.until_said("killing a")


def test_a_closed_terminal_stops_all(start: Start) -> None:
    program = start({"a": [IDLE]})
    program.until_said("[a] idle")
    members = program.family()
    program.process.send_signal(signal.SIGHUP)
    assert program.process.wait(STOP_SECONDS) == 0
    assert all_gone(members, 0)
