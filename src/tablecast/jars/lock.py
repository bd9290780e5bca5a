"""jars.lock: which jars there must be, with their digests and sizes. One line a jar: `conf/name sha256 size`."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CONFS = ("spark", "kafka")
HERE = Path(__file__).parent
LOCK_FILE = HERE / "jars.lock"
VERSION_START = re.compile(r"-(?=\d+\.\d)")


@dataclass(frozen=True)
class LockedJar:
    conf: str
    name: str
    sha256: str
    size: int

    @property
    def path(self) -> str:
        return f"{self.conf}/{self.name}"


@dataclass(frozen=True)
class Lock:
    jars: tuple[LockedJar, ...]
    digest: str
    """Of the whole lock: what a folder's stamp must say."""

    @property
    def size(self) -> int:
        return sum(jar.size for jar in self.jars)

    def of(self, conf: str) -> tuple[LockedJar, ...]:
        return tuple(jar for jar in self.jars if jar.conf == conf)


def parse_lock(text: str) -> Lock:
    jars = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            path, sha256, size = line.split()
            conf, name = path.split("/")
            jars.append(LockedJar(conf, name, sha256, int(size)))
    return Lock(tuple(jars), hashlib.sha256(text.encode()).hexdigest())


def read_lock() -> Lock:
    return parse_lock(LOCK_FILE.read_text())


def format_lock(jars: Iterable[LockedJar]) -> str:
    lines = [f"{jar.path} {jar.sha256} {jar.size}\n" for jar in sorted(jars, key=lambda jar: (CONFS.index(jar.conf), jar.name))]
    return "# Made by python -m tablecast.jars lock from ivy.xml.\n" + "".join(lines)


def artifact(name: str) -> str:
    """The name of a jar without its version: kafka-clients of kafka-clients-3.9.2.jar."""
    return VERSION_START.split(name.removesuffix(".jar"), maxsplit=1)[0]


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_sound(path: Path, jar: LockedJar) -> bool:
    """Whether this file is that jar, byte for byte."""
    return has_size(path, jar) and sha256(path) == jar.sha256


def has_size(path: Path, jar: LockedJar) -> bool:
    try:
        return path.stat().st_size == jar.size
    except OSError:
        return False
