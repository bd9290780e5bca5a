"""jars.lock and what is read out of Ivy's words."""

import re

import pytest

from tablecast.jars.ivy import IVY_FILE, JarLoaded, ModuleFound, failure, parse_event, pyspark_jar
from tablecast.jars.lock import CONFS, artifact, format_lock, parse_lock, read_lock


def test_the_lock_is_as_it_would_be_written_again() -> None:
    lock = read_lock()
    assert parse_lock(format_lock(lock.jars)) == lock
    assert {jar.conf for jar in lock.jars} == set(CONFS)


def test_the_lock_holds_what_ivy_is_asked_for() -> None:
    names = {jar.name for jar in read_lock().jars}
    asked = re.findall(r'<(?:dependency|override) .*?(?:name|module)="(.+?)" rev="(.+?)"', IVY_FILE.read_text())
    assert len(asked) == 4
    assert {f"{name}-{revision}.jar" for name, revision in asked} <= names


def test_no_artifact_stands_twice_on_a_classpath() -> None:
    for conf in CONFS:
        artifacts = [artifact(jar.name) for jar in read_lock().of(conf)]
        assert len(artifacts) == len(set(artifacts))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kafka-clients-3.9.2.jar", "kafka-clients"),
        ("spark-sql-kafka-0-10_2.13-4.2.0.jar", "spark-sql-kafka-0-10_2.13"),
        ("zstd-jni-1.5.6-10.jar", "zstd-jni"),
        ("jackson-annotations-2.21.jar", "jackson-annotations"),
        ("kafka_2.13-4.3.1.jar", "kafka_2.13"),
    ],
)
def test_a_version_is_told_from_a_name(name: str, expected: str) -> None:
    assert artifact(name) == expected


def test_ivys_lines_become_events() -> None:
    assert parse_event("\tfound org.apache.kafka#kafka_2.13;4.3.1 in public\n") == ModuleFound()
    assert parse_event("\t[SUCCESSFUL ] org.yaml#snakeyaml;2.5!snakeyaml.jar(bundle) (68ms)\n") == JarLoaded("snakeyaml-2.5.jar")
    assert parse_event("downloading https://repo.example/snakeyaml-2.5.jar ...\n") is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["\t\t:: a#b;1: not found", "\tServer access error at url https://x (java.net.UnknownHostException: x)"], "UnknownHostException"),
        (["\t\t:: a#b;1: not found"], "a#b;1: not found"),
        (["\t[FAILED     ] a#b;1!b.jar: invalid sha1: expected=1"], "invalid sha1"),
        (["something", ""], "something"),
        ([], "nothing"),
    ],
)
def test_the_most_telling_line_is_the_reason(lines: list[str], expected: str) -> None:
    assert expected in failure(lines)


def test_pyspark_ships_what_we_rely_on() -> None:
    assert pyspark_jar("ivy").exists()
    assert pyspark_jar("py4j").exists()
