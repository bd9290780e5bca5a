"""Notices that files which a program has read at its start have other content now."""

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tablecast.processes.lifeline import terminate_myself

log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0


class FileWatch:
    """Looks once in a while, in a thread of its own. A file that cannot be read just now is being replaced, and is looked at again."""

    def __init__(self, files: Mapping[str, Path], stop: Callable[[], None] = terminate_myself, seconds: float = WATCH_SECONDS) -> None:
        """`files` by what they are for; `stop` is called once, when one has changed."""
        self.changed = False
        self._known = {name: (path, _digest(path)) for name, path in files.items()}
        self._stop = stop
        self._seconds = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="file watch", daemon=True)

    def __enter__(self) -> "FileWatch":
        if self._known:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            for name, (path, known) in self._known.items():
                now = _digest(path)
                if now is not None and now != known:
                    log.warning("[tablecast] %s has changed in %s: started anew with it", name, path)
                    self.changed = True
                    self._stop()
                    return


def _digest(path: Path) -> bytes | None:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
