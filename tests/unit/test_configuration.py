"""Settings from a file, the environment and the command line, and every problem of them at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tablecast.configuration import load
from tablecast.errors import ConfigurationError

WriteConfig = Callable[[str], Path]


@pytest.fixture
def config(tmp_path: Path) -> WriteConfig:
    def write(text: str) -> Path:
        file = tmp_path / "tablecast.toml"
        file.write_text(text)
        return file

    return write


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def problems(file: Path | None, environment: dict[str, str] | None = None, overrides: list[str] | None = None) -> dict[str, str]:
    with pytest.raises(ConfigurationError) as caught:
        load(file, environment or {}, overrides or [])
    return {problem.key: str(problem) for problem in caught.value.problems}


def test_without_a_file_the_default_catalogue_is_complete() -> None:
    catalog = load(None, {}).catalog
    assert set(catalog.tables) == {"users_ui", "account", "accounts_ui", "final_ui", "user_account"}
    assert catalog.aliases == {"user": "users_ui"}
    assert [column.name for column in catalog.tables["final_ui"].columns] == ["userId", "name", "email", "age", "accountType", "balance"]
    assert [column.name for column in catalog.tables["user_account"].columns] == ["userId", "accountType", "balance", "name", "email", "age"]
    assert catalog.sources["users"].keys == ("userId",)


def test_environment_wins_over_the_file_and_the_command_line_over_both(config: WriteConfig) -> None:
    file = config("[server]\nport = 1\nhost = 'a'\nsessions = 1\n")
    server = load(file, {"TABLECAST_SERVER_PORT": "2", "TABLECAST_SERVER_HOST": "b"}, ["server.port=3"]).settings.server
    assert (server.port, server.host, server.sessions) == (3, "b", 1)


def test_every_kind_of_setting_can_come_from_the_environment() -> None:
    settings = load(
        None,
        {
            "TABLECAST_KAFKA_BOOTSTRAP_SERVERS": "kafka:9092",
            "TABLECAST_KAFKA_SASL_OAUTHBEARER_CLIENT_ID": "me",
            "TABLECAST_CHANGELOG_KAFKA_BOOTSTRAP_SERVERS": "own:9092",
            "TABLECAST_SOURCES_USERS_TOPIC": "people",
            "TABLECAST_TABLES_USERS_UI_MAX_ROWS": "10",
            "TABLECAST_PIPELINE_SPARK": '{ "spark.ui.enabled" = "true" }',
            "TABLECAST_CONTROL_JOINS": '["final_ui"]',
            "TABLECAST_ALIASES_PEOPLE": "users_ui",
        },
    ).settings
    assert settings.kafka.root == {"bootstrap.servers": "kafka:9092", "sasl.oauthbearer.client.id": "me"}
    assert settings.changelog.kafka is not None
    assert settings.changelog.kafka.servers == "own:9092"
    assert settings.sources["users"].topic == "people"
    assert settings.tables["users_ui"].max_rows == 10
    assert settings.pipeline.spark == {"spark.ui.enabled": "true"}
    assert settings.aliases["people"] == "users_ui"


def test_a_name_with_dots_of_its_own_is_one_name() -> None:
    settings = load(None, {}, ["kafka.client.id=me", "pipeline.spark.spark.ui.enabled=true"]).settings
    assert settings.kafka.root["client.id"] == "me"
    assert settings.pipeline.spark == {"spark.ui.enabled": "true"}


def test_all_problems_are_told_at_once_with_key_place_value_and_expectation(config: WriteConfig) -> None:
    file = config('[server]\nport = "abc"\nprot = 4\n\n[tables.x]\nsource = "userz"\n\n[pipeline]\ncheckpoint_interval = "5 lightyears"\n')
    found = problems(file, {"TABLECAST_PIPELINE_TWIN": "maybe", "TABLECAST_SERVER_PROT": "1"}, ["server.sessions=0", "nonsense"])
    assert found["server.port"] == f"server.port ({file} line 2): got 'abc', expected a valid integer, unable to parse string as an integer"
    assert found["server.prot"] == f"server.prot ({file} line 3): got an unknown setting, expected perhaps port"
    assert found["tables.x.source"] == f"tables.x.source ({file} line 6): got 'userz', expected one of the sources accounts, users"
    assert "line 9" in found["pipeline.checkpoint_interval"]
    assert "TABLECAST_PIPELINE_TWIN): got 'maybe'" in found["pipeline.twin"]
    assert "perhaps TABLECAST_SERVER_PORT" in found["TABLECAST_SERVER_PROT"]
    assert "--set): got '0'" in found["server.sessions"]
    assert "got 'nonsense', expected KEY=VALUE" in found["--set"]
    assert len(found) == 8


def test_a_twin_of_micro_batches_is_refused(config: WriteConfig) -> None:
    file = config('[pipeline]\ntrigger = "microbatch"\ntwin = true\nhistory = 0\n')
    found = problems(file)
    assert found["pipeline.twin"] == (
        f'pipeline.twin ({file} line 3): got True, expected false, or pipeline.trigger = "realtime": '
        "a twin hides the pause between real-time batches, which micro-batches do not have"
    )
    assert "pipeline.history" in found


def test_a_file_that_is_missing_or_no_toml_is_said_so(config: WriteConfig, tmp_path: Path) -> None:
    assert "No such file" in problems(tmp_path / "absent.toml")["--config"]
    assert "expected a TOML file" in problems(config("this is = = not"))["--config"]


def test_a_value_inside_a_value_is_refused() -> None:
    assert "port has no parts" in problems(None, {}, ["server.port=1", "server.port.deeper=2"])["server.port.deeper"]


@pytest.mark.parametrize("secret", ["hunter2", "a-long-enough-secret"])
def test_secrets_are_never_printed(config: WriteConfig, secret: str) -> None:
    file = config(f'[server]\npsk = "{secret}"\nport = -1\n[kafka]\n"sasl.password" = "{secret}"\n"sasl.oauthbearer.client.secret" = "{secret}"\n')
    with pytest.raises(ConfigurationError) as caught:
        load(file, {})
    assert secret not in str(caught.value)
    settings = load(config(f'[server]\npsk = "longer-{secret}"\n[kafka]\n"sasl.password" = "{secret}"\n'), {}).settings
    assert secret not in repr(settings)
    assert secret not in str(settings.kafka)


def test_a_short_key_is_refused_without_showing_it() -> None:
    assert problems(None, {"TABLECAST_SERVER_PSK": "short"})["server.psk"] == (
        "server.psk (TABLECAST_SERVER_PSK): got ***, expected a key of 8 characters or more"
    )


def test_columns_can_be_nested_and_required(config: WriteConfig) -> None:
    file = config(
        '[sources.people]\ntopic = "p"\ncolumns = { id = "int64", city = { type = "string", path = "address.city", required = true } }\n'
        '[tables.people]\nsource = "people"\n'
    )
    source = load(file, {}).catalog.sources["people"]
    assert [(field.column.name, field.column.type, field.path, field.required) for field in source.fields] == [
        ("id", "int64", ("id",), False),
        ("city", "string", ("address", "city"), True),
    ]


def test_a_section_inside_a_section_is_set_from_everywhere(config: WriteConfig) -> None:
    file = config('[server.oidc]\nissuer = "https://one.example"\naudience = "tables"\n')
    environment = {"TABLECAST_SERVER_OIDC_ISSUER": "https://two.example", "TABLECAST_SERVER_OIDC_VIEWER_ROLES": '["traders"]'}
    oidc = load(file, environment, ["server.oidc.leeway_seconds=5"]).settings.server.oidc
    assert oidc is not None
    assert (oidc.issuer, oidc.audience, oidc.viewer_roles, oidc.leeway_seconds) == ("https://two.example", "tables", ("traders",), 5)


def test_what_is_wrong_inside_a_section_of_a_section_is_told_with_its_place(config: WriteConfig) -> None:
    file = config('[server.oidc]\nissuer = "http://login.example"\naudiense = "tables"\n')
    found = problems(file, {"TABLECAST_SERVER_OIDC_ISSUR": "x"})
    assert "line 2" in found["server.oidc.issuer"]
    assert "https://" in found["server.oidc.issuer"]
    assert "perhaps audience" in found["server.oidc.audiense"]
    assert "perhaps TABLECAST_SERVER_OIDC_ISSUER" in found["TABLECAST_SERVER_OIDC_ISSUR"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('psk = "short"', "server.psk"),
        ('psk = "long enough\\nshort"', "server.psk"),
        ('psk = "a key of both"\noperator_psk = "a key of both"', "server.operator_psk"),
        ('tls_key = "key.pem"', "server.tls_key"),
        ('origins = ["*"]', "server.origins.0"),
        ('trusted_proxies = ["everybody"]', "server.trusted_proxies.0"),
        ('oidc = { issuer = "https://x.example", audience = "x", algorithms = ["HS256"] }', "server.oidc.algorithms.0"),
    ],
)
def test_what_would_let_the_wrong_people_in_is_refused_without_showing_a_key(config: WriteConfig, text: str, key: str) -> None:
    found = problems(config(f"[server]\n{text}\n"))
    assert list(found) == [key]
    assert not any(secret in found[key] for secret in ("short", "a key of both"))
