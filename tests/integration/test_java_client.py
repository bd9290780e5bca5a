"""The translated settings in the hands of the real Java client that Spark uses, and of librdkafka."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway

from tablecast.jars import pyspark_jar
from tablecast.java import find_java
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.java_settings import java_settings
from tablecast.kafka.twins import TWINS
from tablecast.settings import KafkaSettings
from tests.token_server import TokenServer

SERVERS = {"bootstrap.servers": "127.0.0.1:9"}
DESERIALIZER = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
NASTY = "a\"b\\c; d='e' // #\n\té☃"


@pytest.fixture(scope="module")
def gateway(jars_dir: Path) -> Iterator[JavaGateway]:
    """A Java with Spark's Kafka client and what PySpark adds to it."""
    classpath = f"{jars_dir / 'spark'}/*:{pyspark_jar('py4j').parent}/*"
    command = [str(find_java().executable), "-cp", classpath, "py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        port, token = process.stdout.readline(), process.stdout.readline()
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(port), auth_token=token.decode().strip(), auto_convert=True))
        yield gateway
        gateway.shutdown()


def java_map(gateway: JavaGateway, given: dict[str, str]) -> Any:
    settings = java_settings(KafkaSettings(SERVERS | given), "consumer").settings
    properties = gateway.jvm.java.util.HashMap()
    for name, value in {**settings, "key.deserializer": DESERIALIZER, "value.deserializer": DESERIALIZER}.items():
        properties[name] = value
    return properties


def open_and_close(gateway: JavaGateway, given: dict[str, str]) -> None:
    """Making a Java consumer parses its login line, loads its certificates, and logs in at the token endpoint."""
    gateway.jvm.org.apache.kafka.clients.consumer.KafkaConsumer(java_map(gateway, given)).close()


def test_every_java_name_exists(gateway: JavaGateway) -> None:
    clients = gateway.jvm.org.apache.kafka.clients
    names = {"consumer": set(clients.consumer.ConsumerConfig.configNames()), "producer": set(clients.producer.ProducerConfig.configNames())}
    for twin in TWINS:
        for side in ("consumer", "producer") if twin.side == "both" else (twin.side,):
            assert twin.java in names[side]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_password_arrives_as_it_was_given(gateway: JavaGateway, mechanism: str) -> None:
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.username": "ann", "sasl.password": NASTY}
    open_and_close(gateway, given)
    config = gateway.jvm.org.apache.kafka.clients.consumer.ConsumerConfig(java_map(gateway, given))
    context = gateway.jvm.org.apache.kafka.common.security.JaasContext.loadClientContext(config.values())
    assert dict(context.configurationEntries()[0].getOptions()) == {"username": "ann", "password": NASTY}


def test_certificates_are_taken_from_a_pem_file(gateway: JavaGateway, tmp_path: Path) -> None:
    store = ["-keystore", str(tmp_path / "store.p12"), "-storepass", "changeit", "-alias", "ca"]
    keytool = str(find_java().executable.resolve().with_name("keytool"))
    subprocess.run([keytool, "-genkeypair", "-keyalg", "RSA", "-dname", "CN=ca", *store], check=True, capture_output=True)
    subprocess.run([keytool, "-exportcert", "-rfc", "-file", str(tmp_path / "ca.pem"), *store], check=True, capture_output=True)
    authority = {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "ca.pem")}
    open_and_close(gateway, authority)
    open_and_close(gateway, authority | {"ssl.keystore.location": str(tmp_path / "store.p12"), "ssl.keystore.password": "changeit"})


@pytest.fixture
def tokens() -> Iterator[TokenServer]:
    with TokenServer({"tables": 's3"cr\\et'}) as server:
        yield server


def oidc(tokens: TokenServer) -> dict[str, str]:
    """Settings of a client that logs in at a real token endpoint."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": tokens.token_endpoint,
        "sasl.oauthbearer.client.id": "tables",
        "sasl.oauthbearer.client.secret": tokens.clients["tables"],
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc-1",
    }


def test_both_clients_ask_for_the_same_token(gateway: JavaGateway, tokens: TokenServer) -> None:
    open_and_close(gateway, oidc(tokens))
    by_java = len(tokens.asked)
    consumer = make_consumer(KafkaSettings(SERVERS | oidc(tokens)), {"group.id": "test"})
    deadline = time.monotonic() + 10
    while len(tokens.asked) == by_java and time.monotonic() < deadline:
        consumer.poll(0.05)
    consumer.close()
    java, other = tokens.asked[0], tokens.asked[by_java]
    assert java.agent.startswith("Java")
    assert not other.agent.startswith("Java")
    for asked in (java, other):
        assert (asked.client, asked.scope, asked.granted) == ("tables", "kafka", True)
