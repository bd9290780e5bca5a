"""Brings the jars of jars.lock into a folder of ours."""

import os
import shutil
from pathlib import Path

from tablecast.errors import JarsUnavailable
from tablecast.jars.ivy import Resolution, resolve
from tablecast.jars.lock import CONFS, Lock, LockedJar, has_size, is_sound, sha256
from tablecast.jars.progress import FetchProgress
from tablecast.java import find_java
from tablecast.processes.folder_lock import FolderLock

STAMP = ".verified"
CACHE = ".ivy"
STAGING = ".staging"
ATTEMPTS = 2
WAIT_SECONDS = 1800.0


def is_complete(folder: Path, lock: Lock) -> bool:
    """Whether this folder was verified against this very lock, and no jar is missing or cut since. Takes milliseconds: nothing is hashed."""
    try:
        stamped = (folder / STAMP).read_text() == lock.digest
    except OSError:
        return False
    return stamped and all(has_size(folder / jar.path, jar) for jar in lock.jars)


def complete(folder: Path, lock: Lock, ivy_settings: Path | None = None) -> None:
    """Fetches what is missing or damaged, and nothing else. When it returns, every jar has its digest; when it raises, no half jar has a jar's name.

    A second process waits for the first and then finds the work done.
    """
    if is_complete(folder, lock):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder / ".lock") as held:
        if not held.acquire(wait=WAIT_SECONDS):
            raise JarsUnavailable(f"process {held.holder()} is fetching them and does not end", folder)
        if is_complete(folder, lock):
            return
        missing = _missing(folder, lock)
        if missing:
            resolution = Resolution(find_java(), (folder / CACHE).absolute(), ivy_settings, keep_open=(held.fileno(),))
            _fetch(folder, missing, resolution)
        _remove_others(folder, lock)
        _write_atomically(folder / STAMP, lock.digest)


def _missing(folder: Path, lock: Lock) -> tuple[LockedJar, ...]:
    return tuple(jar for jar in lock.jars if not is_sound(folder / jar.path, jar))


def _fetch(folder: Path, missing: tuple[LockedJar, ...], resolution: Resolution) -> None:
    staging = folder.absolute() / STAGING
    with FetchProgress(missing) as progress:
        for _ in range(ATTEMPTS):
            shutil.rmtree(staging, ignore_errors=True)
            resolve(resolution, staging, progress.report)
            missing = _place(staging, folder, missing)
            if not missing:
                break
    shutil.rmtree(staging, ignore_errors=True)
    if missing:
        raise JarsUnavailable(f"{missing[0].path} is not what jars.lock says, also when fetched again", folder)


def _place(staging: Path, folder: Path, jars: tuple[LockedJar, ...]) -> tuple[LockedJar, ...]:
    """Moves sound jars to their place and returns the others, which the cache forgets so that they are downloaded again."""
    refused = []
    for jar in jars:
        cached = (staging / jar.path).resolve()
        if not is_sound(cached, jar):
            cached.unlink(missing_ok=True)
            refused.append(jar)
            continue
        target = folder / jar.path
        target.parent.mkdir(exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.unlink(missing_ok=True)
        try:
            os.link(cached, part)
        except OSError:
            shutil.copyfile(cached, part)
        part.replace(target)
    return tuple(refused)


def _remove_others(folder: Path, lock: Lock) -> None:
    """Jars of an older lock would stand twice on a classpath."""
    known = {jar.path for jar in lock.jars}
    for conf in CONFS:
        for path in (folder / conf).glob("*.jar"):
            if f"{conf}/{path.name}" not in known:
                path.unlink()


def _write_atomically(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def locked_from(folder: Path) -> tuple[LockedJar, ...]:
    """The lock lines of the jars that lie in a folder now."""
    paths = [path for conf in CONFS for path in (folder / conf).glob("*.jar")]
    return tuple(LockedJar(path.parent.name, path.name, sha256(path), path.stat().st_size) for path in paths)
