"""Secrets that stand in files of their own."""

from pathlib import Path

import pytest

from tablecast.configuration import load, off_the_command_line
from tablecast.errors import ConfigurationError
from tablecast.secret_files import MOST_BYTES, read_secret

SECRET = "[hunter2 = { é"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    return file


def problems(file: Path | None, environment: dict[str, str] | None = None, overrides: list[str] | None = None) -> dict[str, str]:
    with pytest.raises(ConfigurationError) as caught:
        load(file, environment or {}, overrides or [])
    assert SECRET not in str(caught.value)
    return {problem.key: str(problem) for problem in caught.value.problems}


def test_a_secret_of_any_section_can_stand_in_a_file(tmp_path: Path, secret: Path) -> None:
    config = tmp_path / "tablecast.toml"
    config.write_text(f'[kafka]\n"sasl.password" = {{ file = "{secret}" }}\n[server]\npsk.file = "{secret}"\n')
    variables = {"TABLECAST_CHANGELOG_KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE": str(secret)}
    loaded = load(None, variables, [f"kafka.ssl.key.password.file={secret}"])
    settings = loaded.settings
    assert settings.kafka.root == {"sasl.password": SECRET, "ssl.key.password": SECRET}
    assert settings.changelog.kafka is not None
    assert settings.changelog.kafka.root == {"sasl.oauthbearer.client.secret": SECRET}
    assert settings.server.psk is not None
    assert settings.server.psk.get_secret_value() == SECRET
    assert loaded.secret_files == dict.fromkeys(
        ("kafka.sasl.password", "kafka.ssl.key.password", "changelog.kafka.sasl.oauthbearer.client.secret", "server.psk"), secret
    )
    assert SECRET not in repr(loaded)


def test_a_file_and_a_text_replace_each_other_as_any_setting_does(tmp_path: Path, secret: Path) -> None:
    config = tmp_path / "tablecast.toml"
    config.write_text(f'[server]\npsk = "from the file"\n[kafka]\n"sasl.password".file = "{secret}"\n')
    loaded = load(None, {"TABLECAST_SERVER_PSK_FILE": str(secret)}, ["kafka.sasl.password=given"])
    assert loaded.settings.kafka.root == {"sasl.password": "given"}
    assert loaded.settings.server.psk is not None
    assert loaded.settings.server.psk.get_secret_value() == SECRET
    assert loaded.secret_files.keys() == {"server.psk"}


def test_a_secret_is_taken_as_it_is_whatever_it_looks_like() -> None:
    settings = load(None, {"TABLECAST_KAFKA_SASL_PASSWORD": '["a"]', "TABLECAST_SERVER_PSK": '{ file = "x" }'}).settings
    assert settings.kafka.root["sasl.password"] == '["a"]'
    assert settings.server.psk is not None
    assert settings.server.psk.get_secret_value() == '{ file = "x" }'


def test_what_is_wrong_with_a_file_is_told_without_what_stands_in_it(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_text("x" * (MOST_BYTES + 1))
    config = tmp_path / "tablecast.toml"
    config.write_text('[kafka]\n"sasl.password" = { file = "empty" }\n"ssl.key.password" = { file = "binary" }\n"ssl.key.pem" = { file = "large" }\n')
    found = problems(None, {"TABLECAST_SERVER_PSK_FILE": "absent", "TABLECAST_SERVER_HOST_FILE": str(secret)})
    assert found["kafka.sasl.password"].endswith("line 2): got 'empty', expected a file with the secret in it, which is empty")
    assert "expected a file of UTF-8 text" in found["kafka.ssl.key.password"]
    assert "expected a file of at most" in found["kafka.ssl.key.pem"]
    assert found["server.psk"] == "server.psk (TABLECAST_SERVER_PSK_FILE): got 'absent', expected a file that can be read (No such file or directory)"
    assert "an unknown setting" in found["TABLECAST_SERVER_HOST_FILE"]


def test_a_table_that_stands_in_a_wrong_place_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "tablecast.toml").write_text(f'[server.host]\nwhatever = "{SECRET}"\n')
    assert "got a table, expected a valid string" in problems(None)["server.host"]


def test_a_variable_and_its_file_at_once_are_refused(secret: Path) -> None:
    found = problems(None, {"TABLECAST_SERVER_PSK": "long enough", "TABLECAST_SERVER_PSK_FILE": str(secret)})
    assert "a second value beside TABLECAST_SERVER_PSK, expected one of the two" in found["TABLECAST_SERVER_PSK_FILE"]


def test_a_value_from_a_file_is_checked_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("abc")
    assert problems(None, {"TABLECAST_SERVER_PSK_FILE": "short"})["server.psk"] == (
        "server.psk (TABLECAST_SERVER_PSK_FILE, in the file short): got ***, expected a key of 8 characters or more"
    )


def test_only_the_end_of_the_last_line_is_left_away(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b" a\n\nb \r\n")
    assert read_secret(tmp_path / "s") == " a\n\nb "


def test_children_get_secrets_of_the_command_line_in_their_environment(secret: Path) -> None:
    given = [
        "server.port=1",
        "pipeline.spark.spark.hadoop.secretKey=s",
        "kafka.sasl.password=p=q",
        "server.psk=long enough",
        f"kafka.ssl.key.password.file={secret}",
        "nonsense",
    ]
    arguments, environment = off_the_command_line(given)
    assert arguments == ["server.port=1", "pipeline.spark.spark.hadoop.secretKey=s", f"kafka.ssl.key.password.file={secret}", "nonsense"]
    inherited = {"TABLECAST_SERVER_PSK_FILE": "of the parent"}
    settings = load(None, inherited | environment, arguments[:-1]).settings
    assert settings.kafka.root == {"sasl.password": "p=q", "ssl.key.password": SECRET}
    assert settings.server.psk is not None
    assert settings.server.psk.get_secret_value() == "long enough"


def test_the_files_of_kafka_are_those_that_its_clients_were_given(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "ca.pem").write_text("PEM")
    given = ["kafka.ssl.ca.location=ca.pem", "kafka.https.ca.location=probe", f"kafka.sasl.password.file={secret}", f"server.psk.file={secret}"]
    assert load(None, {}, given).kafka_files() == {"kafka.ssl.ca.location": Path("ca.pem"), "kafka.sasl.password": secret}


def test_a_secret_of_spark_is_one_too(secret: Path) -> None:
    loaded = load(None, {}, [f"pipeline.spark.spark.hadoop.fs.s3a.secret.key.file={secret}", "pipeline.spark.spark.ui.enabled=true"])
    assert loaded.settings.pipeline.spark == {"spark.hadoop.fs.s3a.secret.key": SECRET, "spark.ui.enabled": "true"}
    assert SECRET not in repr(loaded)
