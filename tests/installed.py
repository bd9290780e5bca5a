"""Tablecast as a user gets it: from the wheel, in a virtualenv outside the checkout, without a network."""

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.stack import REPOSITORY

BUILD_SECONDS = 120
WITHOUT_NETWORK = {"PIP_NO_INDEX": "1", "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}


@dataclass(frozen=True)
class Installed:
    """A virtualenv that has Tablecast from the wheel, and its dependencies from the virtualenv that runs the tests."""

    python: Path
    program: Path
    folder: Path

    def run(self, *command: str | Path, expected: int = 0, **environment: str) -> str:
        """Standard output and error together."""
        done = subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == expected, done.stdout
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TABLECAST_", "PYTHON"))}
        return {**kept, **WITHOUT_NETWORK}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS, check=False)
    assert built.returncode == 0, built.stdout
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv")
    installed = Installed(folder / "venv/bin/python", folder / "venv/bin/tablecast", folder)
    # By the pip of this one: a pip of its own would take longer to install than all the rest.
    installed.run(sys.executable, "-m", "pip", "--python", installed.python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    # A .pth inside a folder of a .pth is not read, so the checkout's own editable install stays out of sight.
    libraries = installed.run(installed.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(libraries, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return installed
