"""The wheel, as a user gets it: complete, and started from outside the checkout, with jars from a folder and without a network."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bench.stack import REPOSITORY, Stack
from tablecast import __version__

BUILD_SECONDS = 120
WITHOUT_NETWORK = {"PIP_NO_INDEX": "1", "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}
NEEDED = (
    "tablecast/server/page/index.html",
    "tablecast/server/page/client/tablecast-client.js",
    "tablecast/jars/ivy.xml",
    "tablecast/jars/jars.lock",
    "tablecast/kafka/broker-log4j2.properties",
    "tablecast/pipeline/log4j2.properties",
    "tablecast/py.typed",
)


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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS, check=False)
    assert built.returncode == 0, built.stdout
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=True)
    installed = Installed(folder / "venv/bin/python", folder / "venv/bin/tablecast", folder)
    installed.run(installed.python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    # A .pth inside a folder of a .pth is not read, so the checkout's own editable install stays out of sight.
    libraries = installed.run(installed.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(libraries, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return installed


def test_it_contains_what_it_needs_to_run(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in NEEDED if name not in names] == []
    assert any(name.startswith("tablecast/server/page/main-") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert [name for name in names if not name.startswith(("tablecast/", f"tablecast-{__version__}.dist-info/"))] == []
    assert [name for name in names if "__pycache__" in name or ".jar" in Path(name).suffix] == []


def test_its_command_says_its_version(installed: Installed) -> None:
    assert installed.run(installed.program, "--version") == f"tablecast {__version__}\n"
    place = installed.run(installed.python, "-c", "import tablecast; print(tablecast.__file__)").strip()
    assert Path(place).is_relative_to(installed.folder)


def test_its_check_finds_everything_in_place_but_the_kafka(installed: Installed, jars_dir: Path) -> None:
    told = installed.run(installed.program, "check", "--set", "server.port=0", expected=1, TABLECAST_PIPELINE_JARS=str(jars_dir.absolute()))
    assert "the page is built" in told
    assert "The source Kafka at localhost:9092 does not answer" in told
    assert "Traceback" not in told


def test_its_demo_serves_the_page_and_the_tables(installed: Installed, jars_dir: Path) -> None:
    environment = {**installed.environment, "PYTHONPATH": ""}
    stack = Stack(installed.folder / "state", jars_dir.absolute(), environment=environment, program=[str(installed.program)], folder=installed.folder)
    with stack:
        stack.wait_until_open()
        assert httpx.get(f"{stack.url}/readyz").status_code == 200
        assert "<tablecast-dashboard>" in httpx.get(stack.url).text
        stack.wait_for_rows("users_ui", 1)
        assert Path(stack.process_of("server").cmdline()[0]).is_relative_to(installed.folder)
        ending = stack.stop()
    assert (ending.code, ending.left) == (0, ())
