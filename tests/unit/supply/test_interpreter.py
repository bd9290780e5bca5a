"""Which Python a virtualenv is made with."""

import sys
from pathlib import Path

import pytest

from supply.interpreter import candidates, choice, complaint, look, main


def chosen(looked: dict[str, bool | None]) -> str | None:
    return choice(looked, looked.__getitem__)


def test_one_that_is_optimised_goes_first_and_the_own_one_before_others() -> None:
    assert chosen({"own": True, "other": True}) == "own"
    assert chosen({"own": False, "old": None, "other": True}) == "other"
    assert chosen({"own": False, "other": False}) == "own"
    assert chosen({"own": None, "other": False}) == "other"
    assert chosen({"own": None}) is None
    assert "python3-venv" in complaint()


def test_where_the_own_one_is_optimised_no_other_is_started() -> None:
    assert choice(["own", "other"], {"own": True}.__getitem__) == "own"


def test_what_can_make_no_virtualenv_for_us_is_not_taken(tmp_path: Path) -> None:
    assert look(str(_program(tmp_path / "broken", "exit 1"))) is None
    assert look(str(_program(tmp_path / "old", "echo 3 9 1"))) is None
    assert look(str(_program(tmp_path / "chatty", "echo hello"))) is None
    assert look(str(tmp_path / "gone")) is None
    assert look(str(_program(tmp_path / "plain", "echo 3 14 0"))) is False
    assert look(str(_program(tmp_path / "quick", "echo 3 14 1"))) is True
    assert look(sys.executable) is not None


def test_each_python_of_the_path_is_looked_at_once(tmp_path: Path) -> None:
    python = _program(tmp_path / "python3.99", "true")
    (tmp_path / "python3").symlink_to(python)
    _program(tmp_path / "python3-config", "true")
    (tmp_path / "python3.98").touch()
    assert [found for found in candidates(f"{tmp_path}:{tmp_path}") if found.startswith(str(tmp_path.resolve()))] == [str(python.resolve())]


def test_only_this_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only-this"]) == 0
    assert capsys.readouterr().out == f"{sys.executable}\n"


def _program(file: Path, does: str) -> Path:
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)
    return file
