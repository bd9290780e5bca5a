"""Files that are changed while the server runs: keys and certificates are taken anew, or the ones before stay."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0

Content = TypeVar("Content")
Stamp = tuple[tuple[int, int, int] | None, ...]


async def follow(what: str, paths: Sequence[Path], read: Callable[[], Content], take: Callable[[Content], None]) -> None:
    """Calls `read` in a thread, now and whenever one of the files is another, and hands what it gives to `take`, on the loop.

    Where one of the two raises OSError or ValueError, what was taken before stays, and the log says so once for each change. Never returns.
    """
    # What was read before may be old already, so it is read once more at the first look.
    seen: Stamp | None = None
    while True:
        now = await asyncio.to_thread(stamp, paths)
        if now != seen:
            try:
                take(await asyncio.to_thread(read))
            except (OSError, ValueError) as error:
                log.warning("[server] the new %s of no use, and what was there before stays: %s", what, error, extra={"event": "not_reloaded"})
            else:
                if seen is not None:
                    log.info("[server] the new %s in use", what, extra={"event": "reloaded"})
            seen = now
        await asyncio.sleep(LOOK_SECONDS)


def stamp(paths: Sequence[Path]) -> Stamp:
    """Another one whenever a file was written or replaced, also by a link that points elsewhere now, as in Kubernetes."""
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
