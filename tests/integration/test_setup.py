"""`tablecast setup`: the jars, and the class archives that make starts quick."""

import subprocess
import sys
from pathlib import Path

import psutil

from tablecast.jars import Jars
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.settings import Settings


def test_after_setup_java_starts_from_its_archive(jars_dir: Path, tmp_path: Path) -> None:
    jars = Jars(jars_dir.absolute())
    command = [sys.executable, "-m", "tablecast", "setup", "--set", f"pipeline.jars={jars.folder}"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
    assert jars.archive("spark").is_file()
    with EmbeddedBroker(Settings().replaced("pipeline", state_dir=tmp_path / "state", jars=jars.folder), jars) as broker:
        mapped = {Path(region.path).name for region in psutil.Process(broker.pid).memory_maps()}
    assert jars.archive("kafka").name in mapped
