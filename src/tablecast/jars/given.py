"""A folder of jars that the user brings: looked at, never written to."""

from collections.abc import Sequence
from pathlib import Path

from tablecast.errors import JarsUnavailable
from tablecast.jars.lock import Lock, artifact


def check_given(folder: Path, lock: Lock, confs: Sequence[str]) -> list[str]:
    """Notices about jars of another version than ours. JarsUnavailable names the artifacts that are missing.

    Another version is allowed, because a user may bring a newer connector.
    """
    notices: list[str] = []
    missing: list[str] = []
    for conf in confs:
        present = {path.name for path in (folder / conf).glob("*.jar")}
        by_artifact = {artifact(name): name for name in present}
        for jar in lock.of(conf):
            if jar.name in present:
                continue
            other = by_artifact.get(artifact(jar.name))
            if other:
                notices.append(f"{conf}/{other} instead of {jar.name}")
            else:
                missing.append(jar.path)
    if missing:
        raise JarsUnavailable(f"{', '.join(missing[:5])}{f' and {len(missing) - 5} more' if len(missing) > 5 else ''} missing", folder)
    return notices
