"""Writes the reference pages that the code knows by itself. `make docs` runs it; a test compares the pages with what it would write."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tablecast import errors, login_errors
from tablecast.configuration import NAMED_ENTRIES
from tablecast.settings import MASK, Section, Settings, is_secret

HERE = Path(__file__).parent

SETTINGS_INTRO = """# Settings

Written by `make docs` from `src/tablecast/settings.py`.

A setting is taken from `tablecast.toml` (or the file after `--config`), over that from the environment, over that from `--set KEY=VALUE`.
In the environment `server.port` is `TABLECAST_SERVER_PORT`; `kafka` and `changelog.kafka` take librdkafka's names with `_` for `.`, as in
`TABLECAST_KAFKA_BOOTSTRAP_SERVERS`. An unknown setting is an error. All problems of a configuration are told at once.

A secret (the viewers' key, passwords, client secrets, private keys) can stand in a file of its own: `psk = { file = "/run/secrets/key" }` in place of
the text, `TABLECAST_SERVER_PSK_FILE=/run/secrets/key` in the environment, `--set server.psk.file=/run/secrets/key` on the command line. The end of
its last line is left away. Secrets are masked wherever settings are printed.
"""
ERRORS_INTRO = """# Error codes

Written by `make docs` from `src/tablecast/errors.py` and `login_errors.py`.

Over HTTP an error is `{"error": {"code", "message", "hint"}}` with the status below; on the WebSocket it is an `error` message, and where a close
code is given the socket closes after it. `transient` errors may pass by themselves.
"""


def settings_page() -> str:
    sections = [
        "| setting | default | meaning |\n| --- | --- | --- |\n" + "\n".join(_section_rows(section, info))
        for section, info in Settings.model_fields.items()
    ]
    titled = [f"## [{section}]\n\n{table}" for section, table in zip(Settings.model_fields, sections, strict=True)]
    return "\n\n".join([SETTINGS_INTRO.rstrip(), *titled]) + "\n"


def _section_rows(section: str, info: FieldInfo) -> Iterator[str]:
    model = NAMED_ENTRIES.get(section) or info.annotation
    if section == "aliases":
        yield '| `aliases.NAME` | `user = "users_ui"` | A second name of a table. |'
    elif section == "kafka" or not (isinstance(model, type) and issubclass(model, BaseModel)):
        yield f'| `{section}.*` | `"bootstrap.servers" = "localhost:9092"` | {info.description} See [kafka.md](kafka.md). |'
    else:
        prefix = f"{section}.NAME" if section in NAMED_ENTRIES else section
        yield from _rows(prefix, model)


def _rows(prefix: str, model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        kinds = get_args(field.annotation)
        inner = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)]
        if inner and NoneType in kinds:
            yield from _rows(f"{prefix}.{name}", inner[0])
        else:
            yield f"| `{prefix}.{name}` | {_default(name, field)} | {field.description} |"


def _default(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value == {}:
        return "–"
    if is_secret(name):
        return MASK
    shown = list(value) if isinstance(value, tuple) else value
    return f"`{str(shown).lower() if isinstance(shown, bool) else shown}`"


def errors_page() -> str:
    found = {kind for module in (errors, login_errors) for _, kind in inspect.getmembers(module, inspect.isclass)}
    kinds = [kind for kind in found if issubclass(kind, errors.TablecastError)]
    rows = [
        " | ".join(["", f"`{kind.code}`", *_on_the_wire(kind), "yes" if kind.transient else "", kind.__name__, ""]).strip()
        for kind in sorted(kinds, key=lambda kind: kind.code)
    ]
    return "\n".join([ERRORS_INTRO, "| code | status | close code | transient | class |", "| --- | --- | --- | --- | --- |", *rows]) + "\n"


def _on_the_wire(kind: type[errors.TablecastError]) -> list[str]:
    return [str(kind.status), str(kind.close_code or "–")] if issubclass(kind, errors.ViewerError) else ["–", "–"]


PAGES = {"settings.md": settings_page, "errors.md": errors_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page())
