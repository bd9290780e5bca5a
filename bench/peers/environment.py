"""Virtualenvs of peers, under .tablecast/peers: made at the first use, so that nothing of theirs is among our own packages."""

import subprocess
import time
import venv
from collections.abc import Callable
from pathlib import Path

from bench.stack import REPOSITORY

PEERS = REPOSITORY / ".tablecast" / "peers"
NEWEST_SECONDS = 24 * 3600.0
"""So long what was the newest version is taken for it."""


def python_with(name: str, requirements: tuple[str, ...], say: Callable[[str], None]) -> Path:
    """The interpreter of the virtualenv of this name, which has these packages. Where no version is pinned it is brought up to date once a day."""
    folder = PEERS / name
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join(requirements)
    if not python.exists():
        venv.create(folder, with_pip=True, clear=True)
    if not _up_to_date(ready, wanted):
        say(f"fetching {', '.join(requirements)} into a virtualenv of its own")
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *requirements]
        subprocess.run(install, check=True)
        ready.write_text(wanted)
    return python


def _up_to_date(ready: Path, wanted: str) -> bool:
    if not ready.exists() or ready.read_text() != wanted:
        return False
    pinned = all("==" in requirement for requirement in wanted.splitlines())
    return pinned or time.time() - ready.stat().st_mtime < NEWEST_SECONDS
