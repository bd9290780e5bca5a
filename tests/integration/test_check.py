"""What the check finds, on a real broker and on none."""

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tablecast import check
from tablecast.check import Finding, run_checks
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.broker_files import free_port
from tablecast.settings import DEFAULT_SOURCES, KafkaSettings, Settings


@pytest.fixture
def settings(broker: EmbeddedBroker, tmp_path: Path, jars_dir: Path, create_topic: Callable[..., str]) -> Settings:
    """A configuration that nothing is wrong with."""
    sources = {name: source | {"topic": create_topic(name)} for name, source in DEFAULT_SOURCES.items()}
    return Settings.model_validate(
        {
            "kafka": broker.kafka,
            "changelog": {"kafka": broker.kafka},
            "pipeline": {"state_dir": tmp_path / "state", "jars": jars_dir},
            "control": {"topic": create_topic("control")},
            "server": {"port": free_port(but=0), "psk": "a key of a test"},
            "sources": sources,
        }
    )


def bad(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings if finding.level != "ok" and finding.subject != "page"}


def test_all_is_well(settings: Settings) -> None:
    findings = run_checks(settings)
    assert bad(findings) == {}
    assert {finding.subject for finding in findings} == {
        *("python", "java", "jars", "page", "state_dir", "server", "server.port"),
        *("kafka", "sources.users", "sources.accounts", "control.topic", "changelog"),
    }
    assert not settings.pipeline.state_dir.exists(), "looking leaves nothing behind"


def test_what_is_wrong_with_one_thing_does_not_hide_another(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    sources = settings.sources | {"users": settings.sources["users"].model_copy(update={"topic": "absent"})}
    wrong = settings.replaced("control", topic="absent.control").replaced("changelog", replication=3).model_copy(update={"sources": sources})
    with socket.socket() as other:
        other.bind(("127.0.0.1", settings.server.port))
        other.listen()
        found = bad(run_checks(wrong))
    assert found.keys() == {"state_dir", "server.port", "sources.users", "control.topic", "changelog"}
    assert "'absent'" in found["sources.users"].what
    assert "server.port" in found["server.port"].advice
    assert found["control.topic"].level == "warning"
    assert all(finding.advice for finding in found.values())


def test_nobody_answers_and_a_setting_cannot_be_translated(settings: Settings) -> None:
    nobody = KafkaSettings({"bootstrap.servers": f"127.0.0.1:{free_port(but=0)}", "ssl.cipher.suites": "x"})
    findings = [finding for finding in run_checks(settings.model_copy(update={"kafka": nobody})) if finding.subject == "kafka"]
    assert [finding.level for finding in findings] == ["problem", "problem"]
    assert "ssl.cipher.suites" in findings[0].what
    assert "refused" in findings[1].what


def test_a_check_that_hangs_or_breaks_is_told_and_the_others_still_speak(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hangs(settings: Settings) -> list[Finding]:
        released.wait(30)
        return []

    def breaks(settings: Settings) -> list[Finding]:
        raise ZeroDivisionError

    monkeypatch.setattr(check, "CHECKS", (("slow", hangs), ("broken", breaks), ("python", check.check_python)))
    started = time.monotonic()
    findings = run_checks(settings, limit=0.3)
    released.set()
    assert time.monotonic() - started < 5
    assert [(finding.subject, finding.level) for finding in findings] == [("slow", "problem"), ("broken", "problem"), ("python", "ok")]


def test_our_own_running_broker_is_no_stranger_on_its_port(broker: EmbeddedBroker, settings: Settings) -> None:
    mine = settings.replaced("changelog", kafka=None).replaced("pipeline", state_dir=broker.state_dir)
    mine = mine.replaced("broker", port=broker.address.port)
    findings = {finding.subject: finding for finding in check.check_ports(mine)}
    assert findings["broker.port"].level == "ok"
    assert "runs already" in findings["broker.port"].what
