"""The command line. Each command is a function of its arguments that returns an exit code."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tablecast import __version__
from tablecast.configuration import Configuration, load, off_the_command_line
from tablecast.errors import ConfigurationError, Problem, TablecastError
from tablecast.printable import escaped
from tablecast.processes.exit_codes import FAILED, FILES_CHANGED, exit_code
from tablecast.processes.file_watch import FileWatch
from tablecast.processes.lifeline import hold_lifeline
from tablecast.processes.log_lines import set_up_logging
from tablecast.settings import keys_in

Command = Callable[[Configuration, argparse.Namespace], int]

CONTROL_SECONDS = 10.0


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    supervised = hold_lifeline()
    try:
        configuration = load(given.config, os.environ, given.set)
        set_up_logging(configuration.settings.log.format)
        _warn_of_secrets(given)
        command: Command = given.command
        code = command(configuration, given)
        if code == FILES_CHANGED and not supervised:
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606
        return code
    except TablecastError as error:
        print(escaped(str(error), keep="\n"), file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tablecast", description="Kafka topics in, live tables out.")
    parser.add_argument("--version", action="version", version=f"tablecast {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add(commands, "demo", _demo, "run everything embedded, with sample data")
    _add(commands, "run", _run, "run orchestrator and server against the Kafka of the configuration")
    _add(commands, "pipeline", _pipeline, "run the orchestrator alone")
    _add(commands, "serve", _serve, "run the table server alone")
    _add(commands, "broker", _broker, "run the embedded Kafka alone")
    _add(commands, "check", _check, "say what is wrong with the installation or the configuration, and what to do")
    _add(commands, "setup", _setup, "check Java, fetch the jars that are missing and prepare quick starts")
    _add_control(commands)
    _add_tail(commands)
    _add_export(commands)
    _add(commands, "sample", _sample, "send sample data to the source topics of the embedded Kafka")
    return parser


def _add_control(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add(commands, "control", _control, "swap the topics behind the tables, or how they are joined; what is not given stays as it is")
    parser.add_argument("--users-topic", metavar="TOPIC", help="the topic of the source users")
    parser.add_argument("--accounts-topic", metavar="TOPIC", help="the topic of the source accounts")
    parser.add_argument("--topic", action="append", default=[], metavar="SOURCE=TOPIC", help="the topic of any source; may be given again")
    parser.add_argument("--join", choices=("left", "inner"), help="how the tables of control.joins are joined")
    parser.add_argument("--dry-run", action="store_true", help="only ask what would become of it, and wait for the answer")
    parser.add_argument("--wait", action="store_true", help="until the verdict is known; refused or superseded: exit code 1")
    parser.add_argument("--wait-seconds", type=float, default=600.0, metavar="N", help="how long at most; default: 600")


def _add_tail(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add_reading(commands, "tail", _tail, "show a table in the terminal as it changes; in a pipe, changed rows as JSON lines")
    parser.add_argument("--rows", type=int, default=20, metavar="N", help="how many; default: 20, the newest, or the first of a sorted view")
    parser.add_argument("--json", action="store_true", help="JSON lines also in a terminal")


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = _add_reading(commands, "export", _export, "save a table or view as a file")
    parser.add_argument("file", type=Path, metavar="FILE", help="its ending says the format: .csv, .arrow or .parquet")
    parser.add_argument("--neutralise-formulas", action="store_true", help="CSV: put a ' before a text that a spreadsheet would run as a formula")


def _add_reading(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, command: Command, purpose: str
) -> argparse.ArgumentParser:
    parser = _add(commands, name, command, purpose)
    parser.add_argument("table", metavar="TABLE", help="the table, or an alias of one")
    parser.add_argument("--url", help="the server, also as the whole address that tablecast demo prints; default: server.host and server.port")
    parser.add_argument("--key", help="its key, or a token; default: server.psk, best given as TABLECAST_SERVER_PSK")
    parser.add_argument("--sort", default="", metavar="COLUMN[:desc],...", help="up to three columns")
    parser.add_argument("--filter", metavar="JSON", help="a condition, as protocol/README.md says")
    parser.add_argument("--search", metavar="TEXT", help="only rows that hold this text")
    return parser


def _add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, command: Command, purpose: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the configuration; default: tablecast.toml here, if there is one")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one setting, as in --set server.port=8080")
    parser.add_argument("--embedded-sources", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(command=command)
    return parser


# A command imports what it runs when it runs: nobody waits for Spark to load before a broker starts.


def _demo(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.launch import demo

    return demo(configuration, *_passed_on(given))


def _run(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.launch import run

    return run(configuration, *_passed_on(given))


def _pipeline(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.orchestrator.orchestrator import orchestrate
    from tablecast.processes.stop_event import stop_event

    stop = stop_event()
    with FileWatch(configuration.kafka_files()) as watch:
        orchestrate(_with_sources(configuration, given), stop)
    return _ended(watch, stop.asked)


def _serve(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.kafka.broker import wait_for_broker
    from tablecast.server.serve import serve
    from tablecast.tables.dismantler import collect_rarely

    collect_rarely()
    # One of the user's own is not waited for: that it does not answer, and why, is told by a server that runs.
    changelog = configuration.settings.changelog.kafka or wait_for_broker(configuration.settings)
    with FileWatch(configuration.kafka_files()) as watch:
        asked = serve(_with_sources(configuration, given).settings, changelog, secret_files=configuration.secret_files)
    return _ended(watch, asked)


def _ended(watch: FileWatch, asked: int) -> int:
    """The watch asks for the end once. Who asks while that goes on wants no new start."""
    return FILES_CHANGED if watch.changed and asked < 2 else 0


def _broker(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.jars import fetch
    from tablecast.kafka.broker import EmbeddedBroker
    from tablecast.processes.stop_event import stop_event

    stop = stop_event()
    broker = EmbeddedBroker(configuration.settings, fetch(configuration.settings, ("kafka",)))
    broker.run(stop, lambda kafka: print(f"[broker] Kafka listens at {kafka.servers}", flush=True))
    return 0


def _check(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.check import run_checks

    findings = run_checks(configuration.settings)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(escaped(f"{finding.level:8} {finding.subject:{width}}  {finding.what}"))
        if finding.advice:
            print(escaped(f"{'':9}{'':{width}}  {finding.advice}"))
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _control(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.kafka.asking import Asking
    from tablecast.kafka.broker import wait_for_broker

    settings = configuration.settings
    asking = Asking(wait_for_broker(settings, CONTROL_SECONDS), settings.changelog.prefix)
    message = asking.ask(_topics(given, tuple(asking.live.topics)), given.join, given.dry_run)
    if message is None:
        print(f"no_change: generation {asking.live.generation} shows this already")
        return 0
    if not given.wait and not given.dry_run:
        print(f"sent as {message}; its verdict will stand in the table control_raw")
        return 0
    row = asking.verdict(message, given.wait_seconds)
    told = f" as generation {row['generation']}" if row["verdict"] == "applied" else ""
    print(escaped(f"{row['verdict']}{told}{': ' + row['reason'] if row['reason'] else ''}"))
    return 0 if row["verdict"] in ("applied", "no_change", "would_apply") else FAILED


def _topics(given: argparse.Namespace, sources: Sequence[str]) -> dict[str, str]:
    """Source to topic, as far as topics were given. ConfigurationError for a source that there is not."""
    pairs = [("--topic", *part.partition("=")[::2]) for part in given.topic]
    pairs += [(f"--{name}-topic", name, topic) for name in ("users", "accounts") if (topic := getattr(given, f"{name}_topic")) is not None]
    problems = [
        Problem(option, "command line", repr(name), f"one of the sources {', '.join(sources)}") for option, name, _ in pairs if name not in sources
    ]
    problems += [Problem(option, "command line", repr(topic), "the name of a topic") for option, _, topic in pairs if not topic.strip()]
    if problems:
        raise ConfigurationError(problems)
    return {name: topic.strip() for _, name, topic in pairs}


def _tail(configuration: Configuration, given: argparse.Namespace) -> int:
    from rich.console import Console

    from tablecast.client.tail import Lines, Look, Screen, tail

    url, key = _server(configuration, given)
    look = Look(given.table, given.rows, _sort(given.sort), _filter(given.filter), given.search)
    console = Console()
    if given.json or not console.is_terminal:
        tail(url, key, look, Lines(lambda line: print(line, flush=True)))
    else:
        with Screen(console, given.table) as screen:
            tail(url, key, look, screen)
    return 0


def _export(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.client.exporting import export

    url, key = _server(configuration, given)
    asked = {
        "format": given.file.suffix.removeprefix(".").lower(),
        "formulas": "neutralise" if given.neutralise_formulas else None,
        "sort": given.sort,
        "filter": given.filter,
        "search": given.search,
    }
    try:
        rows = export(url, key, given.table, given.file, {name: value for name, value in asked.items() if value})
    except OSError as error:
        writable = f"a file that can be written ({error.strerror})"
        raise ConfigurationError([Problem("FILE", "command line", repr(str(given.file)), writable)]) from error
    print(f"{rows} rows of {given.table} in {given.file}")
    return 0


def _server(configuration: Configuration, given: argparse.Namespace) -> tuple[str, str]:
    """The address and the key. ConfigurationError when no key is known."""
    server = configuration.settings.server
    url, _, shown = (given.url or f"{server.scheme}://{server.host}:{server.port}").partition("#key=")
    key = given.key or unquote(shown) or next(iter(keys_in(server.psk) or keys_in(server.operator_psk)), "")
    if not key:
        raise ConfigurationError([Problem("--key", "command line", "nothing", "the key of the server, or TABLECAST_SERVER_PSK")])
    return url.rstrip("/"), key


def _sort(text: str) -> list[tuple[str, bool]]:
    """What is wrong with it the server says: it knows the columns."""
    keys = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    wrong = [
        Problem("--sort", "command line", repr(how), "COLUMN, COLUMN:asc or COLUMN:desc") for _, _, how in keys if how not in ("", "asc", "desc")
    ]
    if wrong:
        raise ConfigurationError(wrong)
    return [(column, how == "desc") for column, _, how in keys]


def _filter(text: str | None) -> dict[str, Any] | None:
    try:
        condition = json.loads(text) if text else None
    except ValueError as error:
        raise ConfigurationError([Problem("--filter", "command line", repr(text), f"JSON ({error})")]) from None
    if condition is not None and not isinstance(condition, dict):
        raise ConfigurationError([Problem("--filter", "command line", repr(text), "a JSON object")])
    return condition


def _setup(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.jars import fetch
    from tablecast.java import find_java

    find_java()
    jars = fetch(configuration.settings)
    if configuration.settings.pipeline.master == "auto":
        from tablecast.training import make_archives

        make_archives(jars)
    return 0


def _sample(configuration: Configuration, given: argparse.Namespace) -> int:
    from tablecast.demo.producer import send_samples
    from tablecast.kafka.broker import wait_for_broker
    from tablecast.processes.stop_event import stop_event

    stop = stop_event()
    settings = configuration.settings
    send_samples(settings.model_copy(update={"kafka": wait_for_broker(settings)}), stop)
    return 0


def _with_sources(configuration: Configuration, given: argparse.Namespace) -> Configuration:
    """In the demo the source topics live on the embedded broker, whose address is known only once it runs."""
    from tablecast.kafka.broker import wait_for_broker

    if not given.embedded_sources:
        return configuration
    settings = configuration.settings
    return Configuration(settings.model_copy(update={"kafka": wait_for_broker(settings)}), configuration.catalog)


def _passed_on(given: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """The arguments and the environment that every sibling gets too."""
    config = ["--config", str(given.config)] if given.config else []
    settings, secrets = off_the_command_line(given.set)
    return [*config, *(part for setting in settings for part in ("--set", setting))], secrets


def _warn_of_secrets(given: argparse.Namespace) -> None:
    names = [name for name, value in off_the_command_line(given.set)[1].items() if value]
    if names:
        told = "a secret on the command line can be read by everybody on this machine; better give it as"
        print(f"[tablecast] {told} {', '.join(names)}, or in a file ({names[0]}_FILE)", file=sys.stderr)
