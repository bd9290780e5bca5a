"""A program that has read a file notices when there is something else in it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tablecast.processes.file_watch import FileWatch
from tablecast.processes.stop_event import stop_event


def test_other_content_stops_the_program_once(tmp_path: Path) -> None:
    secret, other = tmp_path / "secret", tmp_path / "other"
    secret.write_text("one")
    stopped = threading.Event()
    with FileWatch({"kafka.sasl.password": secret, "absent": other}, stopped.set, 0.01) as watch:
        secret.unlink()
        assert not stopped.wait(0.1), "it is being replaced"
        (tmp_path / "new").write_text("one")
        (tmp_path / "new").replace(secret)
        assert not stopped.wait(0.1), "it says the same"
        (tmp_path / "new").write_text("two")
        (tmp_path / "new").replace(secret)
        assert stopped.wait(5)
        assert watch.changed


def test_nothing_is_noticed_when_nobody_watches_any_more(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("one")
    stopped = threading.Event()
    with FileWatch({"secret": tmp_path / "secret"}, stopped.set, 0.01) as watch:
        pass
    (tmp_path / "secret").write_text("two")
    assert not stopped.wait(0.1)
    assert not watch.changed


def test_who_asks_for_the_end_while_a_server_starts_anew_gets_it(tmp_path: Path) -> None:
    """The signal falls into the end that the file brought about."""
    secret = tmp_path / "secret"
    secret.write_text("one")
    environment = {"TABLECAST_CHANGELOG_KAFKA_SASL_PASSWORD_FILE": str(secret), "TABLECAST_SERVER_PSK": "a key of the test"}
    command = [sys.executable, "-m", "tablecast", "serve", "--set", "server.port=0", "--set", "changelog.kafka.bootstrap.servers=127.0.0.1:1"]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        assert program.stdout is not None
        told = []
        try:
            for line in program.stdout:
                told.append(line)
                if "listens at" in line:
                    secret.write_text("two")
                if "started anew" in line:
                    program.send_signal(signal.SIGINT)
                    break
            assert program.wait(20) == 0, told
        finally:
            program.kill()


def test_every_signal_that_asks_for_the_end_is_counted() -> None:
    stop = stop_event([signal.SIGUSR1])
    for count in (1, 2):
        signal.raise_signal(signal.SIGUSR1)
        assert stop.wait(5)
        assert stop.asked == count
