"""A program that has read a file notices when there is something else in it."""

import threading
from pathlib import Path

from tablecast.processes.file_watch import FileWatch


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
