"""Which Java is taken, and what is said when there is none."""

from pathlib import Path

import pytest

from tablecast.errors import JavaMissing
from tablecast.java import find_java, java_version


def fake_java(folder: Path, says: str, code: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "24-ea" 2025-03-18', 24),
        ('java version "1.8.0_292"', 8),
        ("no java here", None),
    ],
)
def test_versions_are_read(tmp_path: Path, says: str, version: int | None) -> None:
    assert java_version(fake_java(tmp_path, says)) == version


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home" / "bin", 'version "21.0.1"')
    fake_java(tmp_path / "path", 'version "17.0.1"')
    found = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path")})
    assert (found.executable, found.version) == (home, 21)


def test_without_java_home_the_path_decides(tmp_path: Path) -> None:
    fake_java(tmp_path, 'version "17.0.1"')
    assert find_java({"PATH": str(tmp_path)}).version == 17


def test_none_at_all() -> None:
    with pytest.raises(JavaMissing, match=r"PATH has no java.*Install one"):
        find_java({"PATH": ""})


def test_one_that_is_too_old_is_told_with_its_place(tmp_path: Path) -> None:
    fake_java(tmp_path / "bin", 'version "11.0.2"')
    with pytest.raises(JavaMissing, match=f"found Java 11 \\(JAVA_HOME={tmp_path}\\)"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_a_java_home_without_java_is_told_because_pyspark_would_follow_it(tmp_path: Path) -> None:
    fake_java(tmp_path / "path", 'version "17.0.1"')
    with pytest.raises(JavaMissing, match="no bin/java in JAVA_HOME"):
        find_java({"JAVA_HOME": str(tmp_path), "PATH": str(tmp_path / "path")})


def test_one_that_does_not_run(tmp_path: Path) -> None:
    fake_java(tmp_path, "Unable to locate a Java Runtime", code=1)
    with pytest.raises(JavaMissing, match="does not run"):
        find_java({"PATH": str(tmp_path)})
