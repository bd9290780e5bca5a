"""What stands between this configuration and a running Tablecast: found out before a start, each with what to do about it."""

import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tablecast import jars
from tablecast.errors import ConfigurationError, PageMissing, PortInUse, Problem, TablecastError, TopicMissing
from tablecast.jars.lock import read_lock
from tablecast.java import find_java
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.names import status_topic
from tablecast.processes.folder_lock import FolderLock
from tablecast.server.exposure import check_exposure
from tablecast.server.tls import Certificate
from tablecast.settings import KafkaSettings, Settings

Level = Literal["ok", "warning", "problem"]
PYTHON = (3, 11)
PAGE = Path(__file__).parent / "server" / "page"
LIMIT_SECONDS = 15.0
KAFKA_SECONDS = 5.0
ENOUGH_DISK = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what was found and, unless that is well, what to do."""

    subject: str
    level: Level
    what: str
    advice: str = ""


Check = Callable[[Settings], list[Finding]]


def run_checks(settings: Settings, limit: float = LIMIT_SECONDS) -> list[Finding]:
    """All findings, in a fixed order. Every check runs by itself: none hides another, and none takes longer than `limit` seconds."""
    runs = [_Run(subject, check, settings) for subject, check in CHECKS]
    for run in runs:
        run.thread.start()
    return [finding for run in runs for finding in run.findings(limit)]


class _Run:
    """One check in a thread that nobody waits for too long."""

    def __init__(self, subject: str, check: Check, settings: Settings) -> None:
        self.subject = subject
        self.thread = threading.Thread(target=self._run, args=(check, settings), name=f"check-{subject}", daemon=True)
        self._found: list[Finding] | None = None

    def _run(self, check: Check, settings: Settings) -> None:
        try:
            self._found = check(settings)
        except TablecastError as error:
            self._found = [_problem(self.subject, error)]
        except Exception as error:
            self._found = [Finding(self.subject, "problem", f"the check itself failed: {error!r}", "Please report this.")]

    def findings(self, limit: float) -> list[Finding]:
        self.thread.join(limit)
        if self._found is None:
            return [Finding(self.subject, "problem", f"no answer within {limit:g} s", "Look at what it depends on: a network, a disk, a broker.")]
        return self._found


def _problem(subject: str, error: TablecastError) -> Finding:
    return Finding(subject, "problem", error.message, error.hint)


def _tried(subject: str, step: Callable[[], object], well: str) -> Finding:
    try:
        step()
    except TablecastError as error:
        return _problem(subject, error)
    return Finding(subject, "ok", well)


def check_python(settings: Settings) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] >= PYTHON:
        return [Finding("python", "ok", f"Python {version}")]
    return [Finding("python", "problem", f"Python {version} is too old", f"Use Python {PYTHON[0]}.{PYTHON[1]} or newer.")]


def check_java(settings: Settings) -> list[Finding]:
    java = find_java()
    return [Finding("java", "ok", f"Java {java.version} ({java.executable})")]


def check_jars(settings: Settings) -> list[Finding]:
    lock = read_lock()
    if jars.are_fetched(settings):
        return [Finding("jars", "ok", f"all {len(lock.jars)} jars in {settings.jars_dir}")]
    size = f"{lock.size / 1e6:.0f} MB"
    return [Finding("jars", "warning", f"not all jars are in {settings.jars_dir}", f"The first start fetches them ({size}), which needs a network.")]


def check_page(settings: Settings) -> list[Finding]:
    if (PAGE / "index.html").is_file():
        return [Finding("page", "ok", "the page is built")]
    return [_problem("page", PageMissing(PAGE))]


def check_state_dir(settings: Settings) -> list[Finding]:
    folder = settings.pipeline.state_dir.absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    advice = "Give pipeline.state_dir a folder that this user may write to."
    if not existing.is_dir():
        return [Finding("state_dir", "problem", f"{existing} is not a folder", advice)]
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        return [Finding("state_dir", "problem", f"{existing} cannot be written to ({os.strerror(error.errno or 0)})", advice)]
    free = shutil.disk_usage(existing).free
    if free < ENOUGH_DISK:
        return [Finding("state_dir", "warning", f"only {free / 1e6:.0f} MB are free at {existing}", "Changelogs and checkpoints may need more.")]
    return [Finding("state_dir", "ok", f"{folder} can be written to, {free / 1e9:.0f} GB free")]


def check_server(settings: Settings) -> list[Finding]:
    """Whether the server may start: a way to log in, and TLS where others can reach it."""
    chain = settings.server.tls_certificate
    try:
        check_exposure(settings.server)
        until = f", with a certificate until {Certificate(chain, settings.server.tls_key).expires:%Y-%m-%d}" if chain is not None else ""
    except ConfigurationError as error:
        return [_of_server(problem) for problem in error.problems]
    return [Finding("server", "ok", f"it may listen on {settings.server.host}{until}")]


def _of_server(problem: Problem) -> Finding:
    """The pipeline alone, and the demo, do without a key."""
    return Finding(problem.key, "warning" if problem.key == "server.psk" else "problem", f"got {problem.got}", f"Expected {problem.expected}.")


def check_ports(settings: Settings) -> list[Finding]:
    findings = [_port("server.port", settings.server.host, settings.server.port)]
    if settings.changelog.kafka is None:
        with FolderLock(settings.broker_dir / ".lock") as lock:
            running = settings.broker_dir.exists() and not lock.acquire()
        told = f"our broker runs already (process {lock.holder()})"
        findings.append(Finding("broker.port", "ok", told) if running else _port("broker.port", "127.0.0.1", settings.broker.port))
    return findings


def _port(setting: str, host: str, port: int) -> Finding:
    if port == 0:
        return Finding(setting, "ok", "any free port")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return _problem(setting, PortInUse(host, port, setting))
    return Finding(setting, "ok", f"port {port} on {host} is free")


def check_source_kafka(settings: Settings) -> list[Finding]:
    kafka = settings.kafka
    findings = [_translation("kafka", kafka)]
    reached = _tried("kafka", lambda: wait_until_up(kafka, KAFKA_SECONDS, "source"), f"the source Kafka at {kafka.servers} answers")
    findings.append(reached)
    if reached.level == "ok":
        topics = Topics(kafka, "source", KAFKA_SECONDS)
        findings += [_source_topic(topics, name, source.topic) for name, source in settings.sources.items()]
        findings.append(_control_topic(topics, settings.control.topic))
    return findings


def _translation(subject: str, kafka: KafkaSettings) -> Finding:
    try:
        dropped = java_settings(kafka, "consumer").dropped
    except TablecastError as error:
        return _problem(subject, error)
    told = f"; not passed on: {', '.join(dropped)}" if dropped else ""
    return Finding(subject, "ok", f"Spark can be given all settings{told}")


def _source_topic(topics: Topics, source: str, topic: str) -> Finding:
    return _tried(f"sources.{source}", lambda: topics.check_readable(topic), f"the topic {topic!r} can be read")


def _control_topic(topics: Topics, topic: str) -> Finding:
    try:
        topics.check_readable(topic)
    except TopicMissing:
        advice = "Create it if others shall swap topics by messages; the page and tablecast control do without."
        return Finding("control.topic", "warning", f"there is no topic {topic!r}", advice)
    except TablecastError as error:
        return _problem("control.topic", error)
    return Finding("control.topic", "ok", f"the topic {topic!r} can be read")


def check_changelog_kafka(settings: Settings) -> list[Finding]:
    kafka = settings.changelog.kafka
    if kafka is None:
        return [Finding("changelog", "ok", "the embedded broker")]
    findings = [_translation("changelog", kafka)]
    reached = _tried("changelog", lambda: wait_until_up(kafka, KAFKA_SECONDS, "changelog"), f"the changelog Kafka at {kafka.servers} answers")
    findings.append(reached)
    if reached.level == "ok":
        topics = Topics(kafka, "changelog", KAFKA_SECONDS)
        topic, replication = status_topic(settings.changelog.prefix), settings.changelog.replication
        findings.append(_tried("changelog", lambda: topics.may_create(topic, replication), f"topics like {topic!r} may be created"))
    return findings


CHECKS: Sequence[tuple[str, Check]] = (
    ("python", check_python),
    ("java", check_java),
    ("jars", check_jars),
    ("page", check_page),
    ("state_dir", check_state_dir),
    ("server", check_server),
    ("ports", check_ports),
    ("kafka", check_source_kafka),
    ("changelog", check_changelog_kafka),
)
