"""Which Python the virtualenv is made with: `python3 supply/interpreter.py` prints its path, or says what is missing and ends with 1.

It is the one that runs this, unless that one is too old, lacks venv, or was built without Python's own optimisations, as pyenv does by default, while
this machine has one that was not: the same server takes a fifth more on it. With `--only-this` no other is looked at.
Whatever Python 3 there is can run this file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

OLDEST = (3, 11)
SYSTEM = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""Where a machine's own Python may stand behind another one of the same name."""
NAME = re.compile(r"python3(\.\d+)?")
# A distribution builds with optimisations, in a way of its own that its Python does not tell.
LOOK = """
import sys, sysconfig
import ensurepip, venv
told = sysconfig.get_config_var("CONFIG_ARGS") or "--enable-optimizations"
print(sys.version_info[0], sys.version_info[1], int("--enable-optimizations" in told or sys.base_prefix == "/usr"))
"""


def main(arguments: list[str]) -> int:
    others = [] if "--only-this" in arguments else candidates(os.environ.get("PATH", ""))
    chosen = choice([sys.executable, *others], look)
    if chosen is None:
        print(complaint(), file=sys.stderr)
        return 1
    print(chosen)
    return 0


def candidates(path: str) -> list[str]:
    """Every Python 3 on the path and in the usual places, each once."""
    folders = [Path(folder) for folder in (*path.split(os.pathsep), *SYSTEM) if folder]
    there = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir()) if NAME.fullmatch(file.name)]
    return list(dict.fromkeys(os.path.realpath(file) for file in there if os.access(file, os.X_OK)))


def look(python: str) -> bool | None:
    """Whether it was built with optimisations; None if no virtualenv for us can be made with it, whatever it is."""
    try:
        told = subprocess.run([python, "-c", LOOK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        major, minor, optimised = map(int, told.stdout.split())
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return bool(optimised) if (major, minor) >= OLDEST else None


def choice(pythons: Iterable[str], look: Callable[[str], bool | None]) -> str | None:
    """The first that is optimised, and none after it is looked at; else the first that can be taken at all."""
    fit = None
    for python in pythons:
        optimised = look(python)
        if optimised:
            return python
        if optimised is not None and fit is None:
            fit = python
    return fit


def complaint() -> str:
    if sys.version_info[:2] < OLDEST:
        this = f"{sys.executable} is {sys.version_info[0]}.{sys.version_info[1]}"
        return f"Python 3.11 or newer is needed, {this}. Say make PYTHON=/path/to/a/newer/python3."
    return "Python's venv module is missing here. On Debian and Ubuntu: apt install python3-venv."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
