"""A folder that the user brings."""

import stat
from pathlib import Path

import pytest

from tablecast.errors import JarsUnavailable
from tablecast.jars import fetch
from tablecast.jars.given import check_given
from tablecast.jars.lock import CONFS, read_lock
from tablecast.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for jar in read_lock().jars:
        path = tmp_path / jar.path
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def test_a_complete_folder_is_taken_and_not_written_to(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    jars = fetch(Settings().replaced("pipeline", jars=folder))
    assert len(jars.spark) + len(jars.kafka) == len(read_lock().jars)
    assert sorted(folder.rglob("*")) == before


def test_another_version_is_allowed_with_a_notice(folder: Path) -> None:
    (folder / "spark/kafka-clients-3.9.2.jar").rename(folder / "spark/kafka-clients-4.9.0.jar")
    assert check_given(folder, read_lock(), CONFS) == ["spark/kafka-clients-4.9.0.jar instead of kafka-clients-3.9.2.jar"]


def test_a_missing_artifact_is_named(folder: Path) -> None:
    next((folder / "spark").glob("commons-pool2*")).unlink()
    with pytest.raises(JarsUnavailable, match="spark/commons-pool2"):
        check_given(folder, read_lock(), CONFS)


def test_only_what_is_asked_for_must_be_there(folder: Path) -> None:
    for path in (folder / "kafka").glob("*.jar"):
        path.unlink()
    assert check_given(folder, read_lock(), ["spark"]) == []
    with pytest.raises(JarsUnavailable, match="and 41 more missing"):
        check_given(folder, read_lock(), CONFS)
