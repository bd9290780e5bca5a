"""Class archives: named after the Java and the jars that they were made with, and used only where there is one."""

from pathlib import Path

import pytest

from tablecast.jars.archive import archive_file, flags_to_make, flags_to_use


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    executable = tmp_path / "home" / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text("a Java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    return executable


def test_each_program_has_an_archive_of_its_own_beside_the_jars(java: Path, tmp_path: Path) -> None:
    spark, kafka = (archive_file(tmp_path / "jars", name) for name in ("spark", "kafka"))
    assert spark.name != kafka.name
    assert spark.parent == kafka.parent == tmp_path / "jars" / "archives"
    assert archive_file(tmp_path / "jars", "spark") == spark


def test_another_java_or_another_place_of_the_jars_has_another_archive(java: Path, tmp_path: Path) -> None:
    before = archive_file(tmp_path / "jars", "spark")
    assert archive_file(tmp_path / "others", "spark").name != before.name
    java.write_text("a newer Java")
    assert archive_file(tmp_path / "jars", "spark").name != before.name


def test_an_archive_is_used_where_there_is_one(tmp_path: Path) -> None:
    archive = tmp_path / "spark.jsa"
    assert flags_to_use(archive) == ()
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in flags_to_use(archive)
    assert f"-XX:ArchiveClassesAtExit={archive}" in flags_to_make(archive)
