"""Runs the Ivy that PySpark ships."""

import importlib.util
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tablecast.errors import JarsUnavailable
from tablecast.jars.lock import CONFS, HERE
from tablecast.java import Java

IVY_FILE = HERE / "ivy.xml"
FOUND = re.compile(r"^\s*found \S+ in ")
LOADED = re.compile(r"^\s*\[SUCCESSFUL ] [^#]+#[^;]+;(?P<revision>[^!]+)!(?P<artifact>.+?)\.jar")
CREDENTIALS = re.compile(r"//[^/@\s]+@")
REASONS = (
    re.compile(r"^\s*Server access error at url (.+)$"),
    re.compile(r"^\s*\[FAILED\s*] (.+)$"),
    re.compile(r"^\s*:: (\S+#\S+;\S+: .+)$"),
    re.compile(r"^(?:.*Exception.*|Error.*): (.+)$"),
)


@dataclass(frozen=True)
class Resolution:
    """How Ivy is called: its cache, an optional settings file of a mirror, descriptors that it shall keep open."""

    java: Java
    cache: Path
    settings: Path | None = None
    keep_open: Sequence[int] = ()


@dataclass(frozen=True)
class ModuleFound:
    """Ivy knows what one more module needs."""


@dataclass(frozen=True)
class JarLoaded:
    """Ivy downloaded one more jar into its cache."""

    name: str


Event = ModuleFound | JarLoaded


def pyspark_jar(artifact: str) -> Path:
    """A jar that PySpark ships, found without importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path("pyspark/jars")
    found = sorted(folder.glob(f"{artifact}-[0-9]*.jar"))
    if not found:
        raise JarsUnavailable(f"the installed PySpark has no {artifact}", folder)
    return found[-1]


def resolve(resolution: Resolution, into: Path, report: Callable[[Event], None]) -> None:
    """Links every jar of ivy.xml to `into`/conf/name, downloading what the cache lacks. JarsUnavailable with Ivy's own reason."""
    process = subprocess.Popen(
        _command(resolution, into),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=tuple(resolution.keep_open),
    )
    lines: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            event = parse_event(line)
            if event:
                report(event)
        code = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if code != 0:
        raise JarsUnavailable(failure(lines), into.parent)


def _command(resolution: Resolution, into: Path) -> list[str]:
    command = [str(resolution.java.executable), "-jar", str(pyspark_jar("ivy")), "-ivy", str(IVY_FILE), "-cache", str(resolution.cache)]
    if resolution.settings:
        command += ["-settings", str(resolution.settings.absolute())]
    return [*command, "-confs", *CONFS, "-symlink", "-retrieve", f"{into}/[conf]/[artifact]-[revision].[ext]"]


def parse_event(line: str) -> Event | None:
    loaded = LOADED.match(line)
    if loaded:
        return JarLoaded(f"{loaded['artifact']}-{loaded['revision']}.jar")
    return ModuleFound() if FOUND.match(line) else None


def failure(lines: Sequence[str]) -> str:
    """Ivy's reason in a few words: of all its lines, the most telling one, without credentials."""
    for pattern in REASONS:
        for line in lines:
            told = pattern.match(line)
            if told:
                return CREDENTIALS.sub("//", f"Ivy says: {told[1]}")[:300].rstrip(".")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    return CREDENTIALS.sub("//", f"Ivy's last word: {last}")[:300].rstrip(".")
