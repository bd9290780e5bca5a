"""Finds the Java that Spark, the embedded Kafka and the fetching of jars run on."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tablecast.errors import JavaMissing

MINIMUM = 17
VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True)
class Java:
    executable: Path
    version: int


@dataclass(frozen=True)
class Located:
    """Where a Java is, and who says so. Whether it runs is not known yet."""

    executable: Path
    origin: str


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The Java of JAVA_HOME, else the one on PATH. JavaMissing if there is none or it is older than `MINIMUM`."""
    located = locate_java(environment)
    version = java_version(located.executable)
    if version is None:
        raise JavaMissing(f"one that does not run ({located.origin})")
    if version < MINIMUM:
        raise JavaMissing(f"Java {version} ({located.origin})")
    return Java(located.executable, version)


def locate_java(environment: Mapping[str, str] | None = None) -> Located:
    """A JAVA_HOME that is set decides alone, because PySpark follows it without asking whether it works. JavaMissing if there is none."""
    environment = os.environ if environment is None else environment
    home = environment.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / "java"
        if not executable.is_file():
            raise JavaMissing(f"no bin/java in JAVA_HOME={home}")
        return Located(executable, f"JAVA_HOME={home}")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path is None:
        raise JavaMissing("none: JAVA_HOME is not set and PATH has no java")
    return Located(Path(on_path), on_path)


def java_version(executable: Path) -> int | None:
    """The major version, or None if this is no Java that runs."""
    try:
        answer = subprocess.run([executable, "-version"], capture_output=True, text=True, errors="replace", timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = VERSION.search(answer.stderr + answer.stdout)
    return int(found[1]) if found and answer.returncode == 0 else None
