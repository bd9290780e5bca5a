"""One process at a time in a folder."""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

POLL_SECONDS = 0.05


class FolderLock:
    """A lock file with the holder's process id inside. The kernel frees it when the holder dies, however it dies.

    A child that inherits `fileno()`, named with `bequeath`, keeps the lock until it ends too: nobody enters while it still works in the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self, wait: float = 0) -> bool:
        """Whether it is ours now; tries for `wait` seconds."""
        deadline = time.monotonic() + wait
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        while not _try(file):
            if time.monotonic() >= deadline:
                os.close(file)
                return False
            time.sleep(POLL_SECONDS)
        self._file = file
        self.bequeath(0)
        return True

    def bequeath(self, heir: int) -> None:
        """Writes down which child has inherited the lock; 0: none."""
        text = f"{os.getpid()} {heir}\n".encode()
        os.ftruncate(self.fileno(), 0)
        os.pwrite(self.fileno(), text, 0)

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def fileno(self) -> int:
        if self._file is None:
            raise ValueError(f"{self.path} is not held")
        return self._file

    def holder(self) -> int:
        """The process that holds or last held it; 0 if nobody ever did."""
        return self._written()[0]

    def heir(self) -> int:
        """The child that may hold it after its holder's death; 0 if there is none."""
        return self._written()[1]

    def _written(self) -> tuple[int, int]:
        try:
            holder, heir = self.path.read_text().split()
            return int(holder), int(heir)
        except (OSError, ValueError):
            return 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def _try(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def alive(pid: int) -> bool:
    """Whether a process with this id runs. One that has ended and that nobody has collected yet does not: in a container that may never happen."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return not _uncollected(pid)


def _uncollected(pid: int) -> bool:
    """Where there is no /proc to tell (macOS), init collects at once."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    # The name, in brackets, may hold anything; the state is the word behind it.
    return told.rpartition(")")[2].split()[0] in "ZX"
