"""Class archives: what Java reads, checks and links at every start, kept as a file that it maps into memory instead.

Java itself refuses an archive that another Java made, or of other jars, and starts without it.
"""

import hashlib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from tablecast.jars.lock import LOCK_FILE
from tablecast.java import locate_java

FOLDER = "archives"


def archive_file(folder: Path, name: str) -> Path:
    """Where the archive of this program, this Java and these jars belongs, beside the jars in `folder`."""
    java = locate_java().executable.resolve()
    facts = (str(java), java.stat().st_mtime_ns, java.stat().st_size, metadata.version("pyspark"), str(folder.resolve()), LOCK_FILE.read_text())
    return folder / FOLDER / f"{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}.jsa"


def flags_to_use(archive: Path) -> Sequence[str]:
    """Nothing where there is none: it only makes a start quicker. Java's word about one that it refuses helps nobody."""
    return (f"-XX:SharedArchiveFile={archive.absolute()}", "-Xlog:cds*=off") if archive.is_file() else ()


def flags_to_make(archive: Path) -> Sequence[str]:
    """The archive is written when that Java ends in good order, and holds the classes that it has used."""
    return (f"-XX:ArchiveClassesAtExit={archive.absolute()}", "-Xlog:cds*=off")
