"""The wheel is complete and works from outside the checkout, with jars from a folder and without a network. The browser tests run its demo."""

import zipfile
from pathlib import Path

from tablecast import __version__
from tests.installed import Installed

NEEDED = (
    "tablecast/server/page/index.html",
    "tablecast/server/page/client/tablecast-client.js",
    "tablecast/jars/ivy.xml",
    "tablecast/jars/jars.lock",
    "tablecast/kafka/broker-log4j2.properties",
    "tablecast/pipeline/log4j2.properties",
    "tablecast/py.typed",
)


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
