"""The jars that Spark needs to speak Kafka, and those of the embedded broker: pinned in ivy.xml, verified against jars.lock."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tablecast.jars.archive import archive_file, flags_to_make, flags_to_use
from tablecast.jars.fetching import complete, is_complete
from tablecast.jars.given import check_given
from tablecast.jars.ivy import pyspark_jar
from tablecast.jars.lock import CONFS, read_lock
from tablecast.settings import Settings

__all__ = ["Jars", "are_fetched", "fetch", "pyspark_jar"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Jars:
    """A folder that holds what it should."""

    folder: Path

    @property
    def spark(self) -> tuple[Path, ...]:
        return self._of("spark")

    @property
    def kafka(self) -> tuple[Path, ...]:
        return self._of("kafka")

    def archive(self, conf: str) -> Path:
        """The class archive of the program that has these jars; perhaps there is none."""
        return archive_file(self.folder, conf)

    def archive_flags(self, conf: str, to_archive: Path | None) -> Sequence[str]:
        """Of a Java that writes the class archive `to_archive` when it ends, if that is given; else of one that uses what there is."""
        return flags_to_make(to_archive) if to_archive else flags_to_use(self.archive(conf))

    def _of(self, conf: str) -> tuple[Path, ...]:
        return tuple(sorted((self.folder / conf).absolute().glob("*.jar")))


def fetch(settings: Settings, confs: Sequence[str] = CONFS) -> Jars:
    """The jars, fetched first if they are ours and not complete. Of a folder that the user gave only `confs` are asked for.

    Returns in milliseconds when nothing is to be done. JarsUnavailable says what is missing and why; JavaMissing, since fetching needs it.
    """
    lock = read_lock()
    if settings.pipeline.jars:
        for notice in check_given(settings.pipeline.jars, lock, confs):
            log.info("[jars] %s", notice)
    else:
        complete(settings.jars_dir, lock, settings.pipeline.ivy_settings)
    return Jars(settings.jars_dir)


def are_fetched(settings: Settings) -> bool:
    """Whether `fetch` has nothing to download. A given folder that lacks a jar raises JarsUnavailable."""
    lock = read_lock()
    if settings.pipeline.jars:
        check_given(settings.pipeline.jars, lock, CONFS)
        return True
    return is_complete(settings.jars_dir, lock)
