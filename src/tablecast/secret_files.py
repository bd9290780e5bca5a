"""Secrets that stand in files: `{ file = "/run/secrets/kafka" }` in place of the text, `TABLECAST_..._FILE`, or `--set NAME.file=PATH`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablecast.settings import is_secret

MOST_BYTES = 1_000_000
SUFFIX = ".file"

Key = tuple[str, ...]


@dataclass(frozen=True)
class SecretFile:
    """Where the text of the setting `key` stands."""

    key: Key
    path: Path


def is_secret_key(key: Key) -> bool:
    return is_secret(".".join(key))


def without_file(key: Key) -> Key | None:
    """The secret setting that a key ending in `file` is about, or None: of server.psk.file, server.psk."""
    *parents, last = key
    of = tuple(parents) if last == SUFFIX.removeprefix(".") else (*parents, last.removesuffix(SUFFIX))
    return of if of != key and of and is_secret_key(of) else None


def taken_out(raw: dict[str, Any], section: Key = ()) -> Iterator[SecretFile]:
    """The secret files that these settings name, each removed from them."""
    for name, value in list(raw.items()):
        key = (*section, name)
        if not isinstance(value, dict):
            continue
        if is_secret_key(key) and value.keys() == {"file"} and isinstance(value["file"], str):
            del raw[name]
            yield SecretFile(key, Path(value["file"]))
        else:
            yield from taken_out(value, key)


def read_secret(path: Path) -> str:
    """Its text, without the end of the last line. ValueError says why it is none, and never what stands in it."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        text = raw.decode().removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise ValueError(f"a file that can be read ({error.strerror or error.__class__.__name__})") from error
    except UnicodeDecodeError:
        raise ValueError("a file of UTF-8 text") from None
    if not text or len(raw) > MOST_BYTES:
        raise ValueError("a file with the secret in it, which is empty" if not text else f"a file of at most {MOST_BYTES} bytes")
    return text
