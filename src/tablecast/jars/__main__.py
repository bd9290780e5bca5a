"""python -m tablecast.jars lock          writes jars.lock anew, after a change of ivy.xml
python -m tablecast.jars fetch FOLDER  fetches the jars into a folder, for a machine without a network
"""

import sys
import tempfile
from pathlib import Path

from tablecast.errors import TablecastError
from tablecast.jars.fetching import complete, locked_from
from tablecast.jars.ivy import Resolution, resolve
from tablecast.jars.lock import LOCK_FILE, format_lock, read_lock
from tablecast.java import find_java


def lock() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        staging = Path(scratch) / "jars"
        resolve(Resolution(find_java(), Path(scratch) / "cache"), staging, report=lambda event: None)
        jars = locked_from(staging)
    LOCK_FILE.write_text(format_lock(jars))
    sys.stdout.write(f"{LOCK_FILE.name}: {len(jars)} jars, {sum(jar.size for jar in jars) / 1e6:.0f} MB\n")


def main(arguments: list[str]) -> int:
    try:
        match arguments:
            case ["lock"]:
                lock()
            case ["fetch", folder]:
                complete(Path(folder), read_lock())
            case _:
                sys.stderr.write(__doc__ or "")
                return 2
    except TablecastError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
