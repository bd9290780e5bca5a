"""The jars: those that are fetched, as jars.lock names them, and those that come inside PySpark."""

import importlib.util
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tablecast.jars.lock import VERSION_START, LockedJar, read_lock, sha256

Component = dict[str, Any]

GROUPS = {
    "argparse4j": "net.sourceforge.argparse4j",
    "caffeine": "com.github.ben-manes.caffeine",
    "commons-pool2": "org.apache.commons",
    "HdrHistogram": "org.hdrhistogram",
    "hash4j": "com.dynatrace.hash4j",
    "jackson-datatype-jdk8": "com.fasterxml.jackson.datatype",
    "jopt-simple": "net.sf.jopt-simple",
    "jose4j": "org.bitbucket.b_c",
    "jspecify": "org.jspecify",
    "lz4-java": "at.yawk.lz4",
    "metrics-core": "com.yammer.metrics",
    "pcollections": "org.pcollections",
    "re2j": "com.google.re2j",
    "scala-logging_2.13": "com.typesafe.scala-logging",
    "slf4j-api": "org.slf4j",
    "snakeyaml": "org.yaml",
    "snappy-java": "org.xerial.snappy",
    "zstd-jni": "com.github.luben",
}
FAMILIES = {
    "jackson-dataformat-": "com.fasterxml.jackson.dataformat",
    "jackson-": "com.fasterxml.jackson.core",
    "kafka": "org.apache.kafka",
    "log4j-": "org.apache.logging.log4j",
    "scala-": "org.scala-lang",
    "spark-": "org.apache.spark",
}
"""Whose a jar is, which its name does not say. Of commons-* it is the name itself."""


def locked_jars() -> list[Component]:
    """Nothing is fetched for it: the lock has all that is told."""
    found = {(jar.name, jar.sha256): _locked(jar) for jar in read_lock().jars}
    return list(found.values())


def bundled_jars() -> list[Component]:
    """Those inside the installed PySpark."""
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    return [_component(*_named(path.name), _group_inside(path), sha256(path), "pyspark") for path in sorted(folder.rglob("*.jar"))]


def group_of(name: str) -> str | None:
    family = next((group for start, group in FAMILIES.items() if name.startswith(start)), None)
    return GROUPS.get(name) or family or (name if name.startswith("commons-") else None)


def _locked(jar: LockedJar) -> Component:
    name, version = _named(jar.name)
    return _component(name, version, group_of(name), jar.sha256, "jars.lock")


def _named(file: str) -> tuple[str, str]:
    name, *version = VERSION_START.split(file.removesuffix(".jar"), maxsplit=1)
    return name, version[0] if version else "unknown"


def _group_inside(path: Path) -> str | None:
    """As the jar itself says, if Maven made it."""
    name, _ = _named(path.name)
    return next(_groups(path, name), None)


def _groups(path: Path, name: str) -> Iterator[str]:
    with zipfile.ZipFile(path) as jar:
        for entry in jar.namelist():
            match entry.split("/"):
                case ["META-INF", "maven", group, artifact, "pom.properties"] if artifact == name:
                    yield group


def _component(name: str, version: str, group: str | None, digest: str, origin: str) -> Component:
    purl = f"pkg:maven/{group}/{name}@{version}?type=jar" if group is not None else f"pkg:generic/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": f"{origin}:{name}@{version}:{digest[:12]}",
        **({"group": group} if group is not None else {}),
        "name": name,
        "version": version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "properties": [{"name": "tablecast:from", "value": origin}],
    }
