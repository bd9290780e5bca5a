"""Reads the settings: the file, over it TABLECAST_* from the environment, over that the command line. A secret may stand in a file of its own.

Every problem is found in one go, and each says its key, where the value came from, what it was and what is expected.
"""

import copy
import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from tablecast.catalog import Catalog
from tablecast.catalog_check import build_catalog
from tablecast.errors import ConfigurationError, Problem
from tablecast.secret_files import Key, is_secret_key, read_secret, taken_out, without_file
from tablecast.settings import (
    DEFAULT_ALIASES,
    DEFAULT_SOURCES,
    DEFAULT_TABLES,
    MASK,
    SPARK_SECTION,
    FieldSettings,
    Section,
    Settings,
    SourceSettings,
    TableSettings,
)

PREFIX = "TABLECAST_"
NOT_SETTINGS = ("TABLECAST_CONFIG", "TABLECAST_LIFELINE")
DEFAULT_FILE = Path("tablecast.toml")
CATALOG_SECTIONS = ("sources", "tables", "aliases", "control")
NAMED_ENTRIES: dict[str, type[BaseModel]] = {"sources": SourceSettings, "tables": TableSettings}
FILE_ENDING = "_FILE"


@dataclass(frozen=True)
class Configuration:
    """Settings that are valid, the catalogue that they describe, and the files that secrets came from, by setting."""

    settings: Settings
    catalog: Catalog
    secret_files: Mapping[str, Path] = field(default_factory=dict)

    def kafka_files(self) -> dict[str, Path]:
        """What Kafka's clients were given in files, by setting: secrets, certificates and keys, which are replaced from time to time."""
        clients = {"kafka": self.settings.kafka, "changelog.kafka": self.settings.changelog.kafka}
        given = {f"{section}.{name}": value for section, kafka in clients.items() if kafka for name, value in kafka.root.items()}
        located = {name: Path(value) for name, value in given.items() if name.endswith(".location") and Path(value).is_file()}
        return {name: path for name, path in self.secret_files.items() if name in given} | located


def load(file: Path | None, environment: Mapping[str, str], overrides: Sequence[str] = ()) -> Configuration:
    """`file` None: ./tablecast.toml if there is one. `overrides` are KEY=VALUE. Raises ConfigurationError with all problems."""
    reading = _Reading(file)
    reading.add_environment(environment)
    reading.add_overrides(overrides)
    reading.add_secret_files()
    settings = reading.validated()
    catalog = reading.checked_catalog(settings)
    if settings is None or catalog is None or reading.problems:
        raise ConfigurationError(reading.problems)
    return Configuration(settings, catalog, reading.secret_files)


def off_the_command_line(overrides: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The overrides that a child may be given as arguments, which everybody on the machine can read, and those with a secret, as its environment."""
    arguments: list[str] = []
    environment: dict[str, str] = {}
    for override in overrides:
        dotted, equals, value = override.partition("=")
        key = split_key(dotted.strip())
        # Spark's names tell small letters from capitals, which variables do not.
        if equals and is_secret_key(key) and not dotted.strip().startswith(SPARK_SECTION):
            # What the environment says of a file would otherwise be a second value.
            environment |= {environment_name(key): value, environment_name(key) + FILE_ENDING: ""}
        else:
            arguments.append(override)
    return arguments, environment


def environment_name(key: Key) -> str:
    return PREFIX + "_".join(key).replace(".", "_").upper()


class _Reading:
    """The raw values so far, and where each came from."""

    def __init__(self, file: Path | None) -> None:
        self.problems: list[Problem] = []
        self.origins: dict[Key, str] = {}
        self.secret_files: dict[str, Path] = {}
        self.file = file or DEFAULT_FILE
        self.lines: list[str] = []
        self.raw = self._read_file(required=file is not None)
        self._add_default_catalog()

    def _read_file(self, required: bool) -> dict[str, Any]:
        if not required and not self.file.exists():
            return {}
        try:
            text = self.file.read_text(encoding="utf-8")
            self.lines = text.splitlines()
            return tomllib.loads(text)
        except OSError as error:
            self.problems.append(Problem("--config", str(self.file), error.strerror or str(error), "a file that can be read"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            self.problems.append(Problem("--config", str(self.file), f"'{error}'", "a TOML file"))
        return {}

    def _add_default_catalog(self) -> None:
        self.raw.setdefault("aliases", {} if "tables" in self.raw else dict(DEFAULT_ALIASES))
        self.raw.setdefault("sources", copy.deepcopy(DEFAULT_SOURCES))
        self.raw.setdefault("tables", copy.deepcopy(DEFAULT_TABLES))

    def add_environment(self, environment: Mapping[str, str]) -> None:
        for name in sorted(environment):
            if name.startswith(PREFIX) and name not in NOT_SETTINGS:
                self._add_variable(name, environment[name])

    def _add_variable(self, name: str, value: str) -> None:
        key = _variable_key(name, self.raw)
        of = without_file(key) if key else None
        if key is None:
            self.problems.append(Problem(name, "environment", "an unknown setting", _closest(name, _environment_names())))
        elif of is None:
            self._set(key, value, name)
        elif value and of in self.origins:
            self.problems.append(Problem(name, "environment", f"a second value beside {self.origins[of]}", "one of the two"))
        elif value:
            self._set(key, value, name)

    def add_overrides(self, overrides: Sequence[str]) -> None:
        for override in overrides:
            dotted, equals, value = override.partition("=")
            if equals:
                self._set(split_key(dotted.strip()), value, "--set")
            else:
                self.problems.append(Problem("--set", "command line", repr(override), "KEY=VALUE, as in server.port=8080"))

    def _set(self, key: Key, text: str, origin: str) -> None:
        of = without_file(key)
        *parents, last = key = of or key
        node = self.raw
        for parent in parents:
            node = node.setdefault(parent, {})
            if not isinstance(node, dict):
                self.problems.append(Problem(".".join(key), origin, "a value inside a value", f"{parent} has no parts"))
                return
        # A secret is never taken for a list or a table, whatever it begins with.
        node[last] = {"file": text} if of else text if is_secret_key(key) else _value(text)
        self.origins[key] = origin

    def add_secret_files(self) -> None:
        for secret in list(taken_out(self.raw)):
            dotted, origin = ".".join(secret.key), self.origins.get(secret.key) or self._place(secret.key)
            try:
                self._set(secret.key, read_secret(secret.path), f"{origin}, in the file {secret.path}")
                self.secret_files[dotted] = secret.path
            except ValueError as error:
                self.problems.append(Problem(dotted, origin, repr(str(secret.path)), str(error)))

    def validated(self) -> Settings | None:
        try:
            return Settings.model_validate(self.raw)
        except ValidationError as error:
            self.problems += [self._translated(details) for details in error.errors(include_url=False)]
            return None

    def checked_catalog(self, settings: Settings | None) -> Catalog | None:
        """Also looked at when another section is wrong, so that nobody corrects a file twice."""
        try:
            settings = settings or Settings.model_validate({section: self.raw[section] for section in CATALOG_SECTIONS if section in self.raw})
        except ValidationError:
            return None
        catalog, flaws = build_catalog(settings)
        self.problems += [self.problem(flaw.key, flaw.got, flaw.expected) for flaw in flaws]
        return catalog

    def _translated(self, details: Any) -> Problem:
        key = tuple(str(part) for part in details["loc"])
        if details["type"] == "extra_forbidden":
            return self.problem(key, "an unknown setting", _closest(key[-1], _siblings(key)))
        if details["type"] == "missing":
            return self.problem(key, "nothing", "a value: it is required")
        return self.problem(key, _shown(key, self.raw), _expectation(details["msg"]))

    def problem(self, key: Key, got: str, expected: str) -> Problem:
        origin = next((self.origins[key[:length]] for length in range(len(key), 0, -1) if key[:length] in self.origins), None)
        return Problem(".".join(key), origin or self._place(key), got, expected)

    def _place(self, key: Key) -> str:
        """The file, and the line where the key or the nearest part around it stands."""
        for length in range(len(key), 0, -1):
            for number, line in enumerate(self.lines, start=1):
                if _stands_at(line, key[:length], _section(self.lines[:number])):
                    return f"{self.file} line {number}"
        return str(self.file) if self.lines else "default"


def _stands_at(line: str, key: Key, section: str) -> bool:
    if line.strip() == f"[{'.'.join(key)}]":
        return True
    name, equals, _ = line.partition("=")
    return bool(equals) and name.strip().strip('"') == key[-1] and section == ".".join(key[:-1])


def _section(lines: Sequence[str]) -> str:
    headers = (line.strip() for line in reversed(lines))
    return next((header.strip("[]") for header in headers if header.startswith("[") and header.endswith("]")), "")


def split_key(dotted: str) -> Key:
    """The parts of a dotted key. Kafka's names and Spark's have dots of their own."""
    for section in (("kafka",), ("changelog", "kafka"), ("pipeline", "spark")):
        start = ".".join(section) + "."
        if dotted.startswith(start):
            return (*section, dotted.removeprefix(start))
    return tuple(dotted.split("."))


def _variable_key(name: str, raw: Mapping[str, Any]) -> Key | None:
    rest = name.removeprefix(PREFIX)
    of = _environment_key(rest.removesuffix(FILE_ENDING).lower(), raw) if rest.endswith(FILE_ENDING) else None
    if of is not None and is_secret_key(of):
        return (*of, "file")
    return _environment_key(rest.lower(), raw)


def _environment_key(name: str, raw: Mapping[str, Any]) -> Key | None:
    section, _, rest = name.partition("_")
    if section not in Settings.model_fields or not rest:
        return None
    if section == "changelog" and rest.startswith("kafka_"):
        return ("changelog", "kafka", rest.removeprefix("kafka_").replace("_", "."))
    if section == "kafka":
        return ("kafka", rest.replace("_", "."))
    if section == "aliases":
        return ("aliases", rest)
    if section in NAMED_ENTRIES:
        return _entry_key(section, rest, raw)
    return (section, rest) if rest in _fields(section) else _inner_key(section, rest)


def _inner_key(section: str, rest: str) -> Key | None:
    inner = ((section, name, setting) for name, model in _inner(section).items() for setting in model.model_fields)
    return next((key for key in inner if "_".join(key[1:]) == rest), None)


def _entry_key(section: str, rest: str, raw: Mapping[str, Any]) -> Key | None:
    for setting in NAMED_ENTRIES[section].model_fields:
        if rest.endswith(f"_{setting}"):
            entry = rest.removesuffix(f"_{setting}")
            return (section, next((name for name in raw[section] if name.lower() == entry), entry), setting)
    return None


def _fields(section: str) -> list[str]:
    model = Settings.model_fields[section].annotation
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _inner(section: str) -> dict[str, type[BaseModel]]:
    """The sections inside a section."""
    model = Settings.model_fields[section].annotation
    fields = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else {}
    kinds = {name: (setting.annotation, *get_args(setting.annotation)) for name, setting in fields.items()}
    found = {name: next((kind for kind in each if isinstance(kind, type) and issubclass(kind, Section)), None) for name, each in kinds.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def _environment_names() -> list[str]:
    plain = [(section, name) for section in Settings.model_fields for name in _fields(section)]
    inner = [(section, name, each) for section in Settings.model_fields for name, model in _inner(section).items() for each in model.model_fields]
    return [PREFIX + "_".join(key).upper() for key in (*plain, *inner)]


def _siblings(key: Key) -> list[str]:
    if len(key) == 1:
        return list(Settings.model_fields)
    if "columns" in key[:-1]:
        return list(FieldSettings.model_fields)
    if key[0] in NAMED_ENTRIES:
        return list(NAMED_ENTRIES[key[0]].model_fields)
    return list(_inner(key[0])[key[1]].model_fields) if len(key) > 2 and key[1] in _inner(key[0]) else _fields(key[0])


def _closest(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    match = difflib.get_close_matches(name, known, 1, 0.6)
    return f"perhaps {match[0]}" if match else f"one of {', '.join(known)}"


def _value(text: str) -> Any:
    """Lists and tables are written as in TOML; anything else is text, which the model turns into its type."""
    if text[:1] in ("[", "{"):
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
    return text


def _shown(key: Key, raw: Mapping[str, Any]) -> str:
    if is_secret_key(key):
        return MASK
    node: Any = raw
    for part in key:
        node = node.get(part) if isinstance(node, dict) else node
    # A table may hold secrets under any name.
    return "a table" if isinstance(node, dict) else repr(node)[:200]


def _expectation(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return text[:1].lower() + text[1:]
