"""requirements.lock: the packages of constraints.txt with the SHA-256 of every file that may be installed of them, as the package index tells it.

`python -m supply.lock`, after each change of constraints.txt; which index is pip's own setting.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_sdist_filename, parse_wheel_filename

REPOSITORY = Path(__file__).parent.parent
CONSTRAINTS = REPOSITORY / "constraints.txt"
LOCK = REPOSITORY / "requirements.lock"
HEAD = "# Made by make lock from constraints.txt. Nothing else is installed, and nothing whose digest is not here.\n"
PYTHONS = re.compile(r"py3-.*|cp31[1-9]-.*|cp3\d*-abi3")
PLATFORMS = re.compile(r"any|(manylinux|musllinux|macosx).*(x86_64|aarch64|arm64|universal2)")
SECONDS = 60


class Links(HTMLParser):
    """The files of a package, and the digests behind their addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address, _, digest = (dict(attrs).get("href") or "").partition("#sha256=")
        if tag == "a" and digest:
            self.files[address.rpartition("/")[2]] = digest


def pinned(text: str) -> dict[str, str]:
    """Name to version."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {name: version for name, _, version in (line.partition("==") for line in lines)}


def wanted(file: str, version: str) -> bool:
    """Whether it is of this version, and for a Python and a system that Tablecast may run on."""
    try:
        if not file.endswith(".whl"):
            return str(parse_sdist_filename(file)[1]) == version
        _, found, _, tags = parse_wheel_filename(file)
    except (InvalidSdistFilename, InvalidWheelFilename):
        return False
    fits = any(PYTHONS.fullmatch(f"{tag.interpreter}-{tag.abi}") and not tag.abi.endswith("t") and PLATFORMS.fullmatch(tag.platform) for tag in tags)
    return str(found) == version and fits


def locked(name: str, version: str, files: dict[str, str]) -> str:
    """Its lines of the lock. SystemExit when the index has no such file."""
    digests = sorted({digest for file, digest in files.items() if wanted(file, version)})
    if not digests:
        raise SystemExit(f"The index has no file of {name} {version} for us.")
    return f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{digest}" for digest in digests) + "\n"


def lock_text(packages: Iterable[tuple[str, str]], index: str) -> str:
    return HEAD + "".join(locked(name, version, _files(name, index)) for name, version in packages)


def _files(name: str, index: str) -> dict[str, str]:
    links = Links()
    with urlopen(f"{index.rstrip('/')}/{canonicalize_name(name)}/", timeout=SECONDS) as answer:  # noqa: S310 - pip's own address
        links.feed(answer.read().decode())
    return links.files


def _index() -> str:
    """As pip itself would find it."""
    if given := os.environ.get("PIP_INDEX_URL"):
        return given
    told = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False)
    return told.stdout.strip() or str(import_module("pip._internal.models.index").PyPI.simple_url)


def main() -> int:
    packages = pinned(CONSTRAINTS.read_text())
    LOCK.write_text(lock_text(packages.items(), _index()))
    print(f"{len(packages)} packages in {LOCK.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
