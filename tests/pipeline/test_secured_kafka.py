"""Every way to secure a Kafka, on a real one: through librdkafka and through Spark, and what is told when it goes wrong."""

import contextlib
import time
from pathlib import Path
from urllib.error import URLError

import pytest
from confluent_kafka.admin import AclOperation
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from bench.stack import KEY, Stack
from tablecast.check import Finding, check_source_kafka
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker_files import free_port
from tablecast.kafka.clients import make_producer
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.standing import standing
from tablecast.pipeline.sink import write_changelogs
from tablecast.pipeline.sources import backlog
from tablecast.processes.lifeline import VARIABLE as LIFELINE
from tablecast.settings import KafkaSettings, Settings, is_secret
from tests.secured_broker import PASSWORD, SECRET, WAYS, SecuredBroker
from tests.token_server import TokenServer

SECONDS = 10.0
"""Within which a fault is told."""


def secrets_of(kafka: KafkaSettings) -> list[str]:
    """Also the private key as Java gets it."""
    key = java_settings(kafka, "consumer").settings.get("ssl.keystore.key", "")
    return [value for name, value in kafka.root.items() if is_secret(name) and value] + key.splitlines()[1:2]


def shown_plans(spark: SparkSession) -> str:
    """All that Spark's web page would show of the last queries."""
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    texts = []
    for number in range(executions.size()):
        execution = executions.apply(number)
        nodes = store.planGraph(execution.executionId()).allNodes()
        texts += [str(execution.physicalPlanDescription()), *(str(nodes.apply(index).desc()) for index in range(nodes.size()))]
    return "\n".join(texts)


@pytest.mark.parametrize("way", WAYS)
def test_records_pass_through_librdkafka_and_spark(secured: SecuredBroker, spark: SparkSession, way: str) -> None:
    kafka = secured.client(way)
    given, taken = f"own.given.{way}", f"own.taken.{way}"
    topics = Topics(kafka, "test")
    assert [topics.ensure(topic, 1) for topic in (given, taken)] == [True, True]
    producer = make_producer(kafka, {})
    producer.produce(given, f"by {way}".encode(), b"key")
    assert producer.flush(10) == 0
    read = backlog(spark, given, java_settings(kafka, "consumer").spark_options(), {0: 0}, {0: 1})
    value, none = F.concat(F.col("value").cast("string"), F.lit(" and Spark")), F.lit(None).cast("string")
    rows = read.select(F.lit(taken).alias("topic"), F.col("key").alias("id"), value.alias("value"), none.alias("version"), none.alias("order"))
    write_changelogs(rows, java_settings(kafka, "producer").spark_options(), 1_000_000)
    assert [message.value() for message in standing(kafka, taken)] == [f"by {way} and Spark".encode()]
    plans = str(rows._jdf.queryExecution().toString()) + shown_plans(spark)
    assert "kafka" in plans.lower()
    assert [secret for secret in secrets_of(kafka) if secret in plans] == []


def settings(kafka: KafkaSettings, users: str = "open.users") -> Settings:
    """A configuration that reads this Kafka."""
    made = Settings().model_copy(update={"kafka": kafka}).replaced("control", topic="open.control")
    topics = {"users": users, "accounts": "open.accounts"}
    return made.model_copy(update={"sources": {name: source.model_copy(update={"topic": topics[name]}) for name, source in made.sources.items()}})


def problems(made: Settings) -> dict[str, Finding]:
    """What the check finds wrong, in seconds and without a secret."""
    started = time.monotonic()
    found = {finding.subject: finding for finding in check_source_kafka(made) if finding.level != "ok"}
    assert time.monotonic() - started < SECONDS
    told = repr(found)
    assert [secret for secret in (*secrets_of(made.kafka), PASSWORD, SECRET) if secret in told] == []
    assert all(finding.advice for finding in found.values())
    return found


def test_a_topic_without_rights_is_named_and_read_once_they_are_granted(secured: SecuredBroker) -> None:
    made = settings(secured.client("SCRAM-SHA-512"), users="closed")
    found = problems(made)
    assert found.keys() == {"sources.users"}
    assert "may not read the topic 'closed'" in found["sources.users"].what
    assert "Read and Describe" in found["sources.users"].advice
    secured.allow([AclOperation.READ], "closed")
    assert problems(made) == {}


@pytest.mark.parametrize(
    ("way", "other", "told", "advice"),
    [
        ("PLAIN", {"sasl_password": "wrong-pw"}, "refuses these credentials", "\"sasl.username\" (got 'ann')"),
        ("SCRAM-SHA-256", {"sasl_password": "wrong-pw"}, "refuses these credentials", "\"sasl.mechanism\" (got 'SCRAM-SHA-256')"),
        ("SCRAM-SHA-512", {"sasl_username": "bob"}, "refuses these credentials", "\"sasl.username\" (got 'bob')"),
        ("OAUTHBEARER", {"sasl_oauthbearer_client_secret": "wrong-secret"}, "No token for the source Kafka", "(got 'tables')"),
        ("OAUTHBEARER", {"https_ca_location": "probe"}, "No token for the source Kafka", "\"https.ca.location\" (got 'probe')"),
        ("SSL", {"ssl_ca_location": "probe"}, "no TLS connection", "\"ssl.ca.location\" (got 'probe')"),
        ("OUTDATED", {}, "the broker's certificate is not accepted, certificate has expired", "dates of the certificates"),
    ],
    ids=["PLAIN", "SCRAM", "unknown-user", "wrong-client-secret", "untrusted-endpoint", "untrusted-broker", "outdated-broker"],
)
def test_what_is_wrong_is_told_in_seconds(secured: SecuredBroker, way: str, other: dict[str, str], told: str, advice: str) -> None:
    [finding] = problems(settings(secured.client(way, **other))).values()
    assert told in finding.what
    assert secured.client(way).servers in finding.what
    assert advice in finding.advice


def test_another_host_than_the_certificate_names_is_refused_unless_told_so(secured: SecuredBroker) -> None:
    elsewhere = secured.client("PLAIN").servers.replace("127.0.0.1", "localhost")
    [finding] = problems(settings(secured.client("PLAIN", bootstrap_servers=elsewhere))).values()
    assert "certificate is not valid for 'localhost'" in finding.what
    assert problems(settings(secured.client("PLAIN", bootstrap_servers=elsewhere, ssl_endpoint_identification_algorithm="none"))) == {}


def test_an_outdated_certificate_of_ours_is_named_with_its_dates(secured: SecuredBroker) -> None:
    old = secured.authority.issue("old", expired=True)
    files = {"ssl_certificate_location": str(old.chain), "ssl_key_location": str(old.key), "ssl_key_password": ""}
    [finding] = problems(settings(secured.client("SSL", **files))).values()
    assert "the certificate of ssl.certificate.location, CN=old, is valid from" in finding.what


def test_an_outdated_certificate_of_the_broker_is_no_trouble_any_more_when_it_is_renewed(secured: SecuredBroker) -> None:
    assert problems(settings(secured.client("OUTDATED"))).keys() == {"kafka"}
    secured.renew(secured.authority.issue("outdated"))
    until_well(settings(secured.client("OUTDATED")))


def until_well(made: Settings) -> None:
    deadline = time.monotonic() + SECONDS
    while found := problems(made):
        assert time.monotonic() < deadline, found


def test_a_token_endpoint_that_is_away_is_told_and_used_when_it_is_back(secured: SecuredBroker, tokens: TokenServer) -> None:
    made = settings(secured.client("OAUTHBEARER"))
    with tokens.unreachable():
        [finding] = problems(made).values()
        assert f"can be had from {tokens.token_endpoint}" in finding.what
    assert problems(made) == {}


def test_signing_keys_are_rotated_under_clients(secured: SecuredBroker, tokens: TokenServer) -> None:
    """The broker refuses a key that it has not heard of, and asks for the keys then."""
    tokens.rotate()
    until_well(settings(secured.client("OAUTHBEARER")))


def test_a_token_of_another_audience_is_refused_by_the_broker(secured: SecuredBroker, tokens: TokenServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "audience", "somebody else")
    [finding] = problems(settings(secured.client("OAUTHBEARER"))).values()
    assert "refuses these credentials" in finding.what
    assert "which issuer and audience the broker expects" in finding.advice


def test_a_server_says_that_it_is_refused_and_takes_a_password_that_is_mended(secured: SecuredBroker, jars_dir: Path, tmp_path: Path) -> None:
    secret, port = tmp_path / "password", free_port(but=0)
    secret.write_text("wrong-pw")
    given = {f"changelog.kafka.{name}": value for name, value in secured.client("PLAIN").root.items() if name != "sasl.password"}
    alone = {"TABLECAST_CHANGELOG_KAFKA_SASL_PASSWORD_FILE": str(secret), "TABLECAST_SERVER_PSK": KEY, LIFELINE: ""}
    with Stack(tmp_path / "state", jars_dir, "serve", {**given, "changelog.prefix": "own.serve", "server.port": port}, alone) as stack:
        stack.url, stack.key = f"http://127.0.0.1:{port}", KEY
        until_told(stack, f"The changelog Kafka at {secured.servers('PASSWORD')} refuses these credentials")
        secret.write_text(PASSWORD)
        until_told(stack, "The topic own.serve.status does not exist yet")
        assert any("refuses these credentials" in line for line in stack.log.lines)
        assert not any(secret in line for line in stack.log.lines for secret in ("wrong-pw", PASSWORD, KEY))


def until_told(stack: Stack, message: str) -> None:
    """At /api/status, of a server that is started anew meanwhile."""
    deadline, told = time.monotonic() + SECONDS, ""
    while message not in told:
        assert time.monotonic() < deadline, (told, stack.log.lines[-10:])
        with contextlib.suppress(URLError, ConnectionError):
            told = str(stack.get("/api/status")["feed"]["message"])
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("way", "other", "told"),
    [
        ("SCRAM-SHA-512", {"sasl_password": "wrong-pw"}, "SaslAuthenticationException"),
        ("OAUTHBEARER", {"sasl_oauthbearer_client_secret": "wrong-secret"}, "LoginException"),
    ],
)
def test_spark_tells_no_secret_when_it_is_not_let_in(secured: SecuredBroker, spark: SparkSession, way: str, other: dict[str, str], told: str) -> None:
    kafka = secured.client(way, **other)
    with pytest.raises(Exception, match=told) as raised:
        backlog(spark, "open.users", java_settings(kafka, "consumer").spark_options(), {0: 0}, {0: 1}).count()
    assert [secret for secret in secrets_of(kafka) if secret in str(raised.value)] == []
