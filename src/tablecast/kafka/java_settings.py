"""Kafka client settings in the names of Java's client (kafka-clients 3.9), for Spark's connector."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from tablecast.errors import UntranslatableSetting
from tablecast.kafka.java_security import keystore, oidc_jaas, password_jaas, truststore
from tablecast.kafka.twins import CREDENTIALS, DECIDED_BY_US, TUNING, TWINS
from tablecast.settings import KafkaSettings

LOGIN = {
    "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
    # Java would wait for ever for an endpoint that takes the connection and says nothing.
    "sasl.login.connect.timeout.ms": "10000",
    "sasl.login.read.timeout.ms": "10000",
}
SUBJECT = "sasl.oauthbearer.sub.claim.name"
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
BY_NAME = {twin.name: twin for twin in TWINS}
SPARK_PREFIX = "kafka."


@dataclass(frozen=True)
class JavaSettings:
    """`settings` for the client, `properties` for the Java it runs in, `dropped` what only librdkafka has and nobody misses."""

    settings: dict[str, str] = field(repr=False)
    properties: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    def spark_options(self) -> dict[str, str]:
        """As options of Spark's Kafka source or sink."""
        return {f"{SPARK_PREFIX}{name}": value for name, value in self.settings.items()}


def java_settings(kafka: KafkaSettings, side: Literal["consumer", "producer"]) -> JavaSettings:
    """The same client, said in Java. UntranslatableSetting names the first setting that Java's client cannot have.

    Where the two clients differ by default, librdkafka's default is said, so that Python and Spark read the same records.
    """
    given = {name: value for name, value in kafka.root.items() if value != ""}
    settings = {} if side == "producer" else {"isolation.level": "read_committed"}
    dropped = []
    for name, value in given.items():
        twin = BY_NAME.get(name)
        if twin:
            if twin.side in ("both", side):
                settings[twin.java] = value.upper() if name == "security.protocol" else value
        elif name in DECIDED_BY_US or name in TUNING:
            dropped.append(name)
        elif name not in CREDENTIALS:
            raise UntranslatableSetting(name)
    protocol = given.get("security.protocol", "PLAINTEXT").upper()
    if protocol.endswith("SSL"):
        settings |= _ssl(given)
    if protocol.startswith("SASL"):
        settings |= _sasl(given)
    properties = {ALLOWED_URLS: given[ENDPOINT]} if ENDPOINT in settings else {}
    return JavaSettings(settings, properties, tuple(dropped))


def java_properties(*clients: JavaSettings) -> dict[str, str]:
    """For a Java that all these clients run in."""
    endpoints = dict.fromkeys(client.properties[ALLOWED_URLS] for client in clients if ALLOWED_URLS in client.properties)
    return {ALLOWED_URLS: ",".join(endpoints)} if endpoints else {}


def _ssl(given: dict[str, str]) -> dict[str, str]:
    if given.get("enable.ssl.certificate.verification", "true").lower() not in ("true", "1"):
        raise UntranslatableSetting("enable.ssl.certificate.verification", "it always verifies the broker's certificate")
    identification = given.get("ssl.endpoint.identification.algorithm", "https")
    settings = {"ssl.endpoint.identification.algorithm": "" if identification == "none" else identification}
    return settings | truststore(given, "ssl.ca") | keystore(given)


def _sasl(given: dict[str, str]) -> dict[str, str]:
    name = "sasl.mechanism" if "sasl.mechanism" in given else "sasl.mechanisms"
    mechanism = given.get(name, "GSSAPI").upper()
    if mechanism in PASSWORD_MECHANISMS:
        return {"sasl.mechanism": mechanism, "sasl.jaas.config": password_jaas(mechanism, given)}
    if mechanism == "OAUTHBEARER":
        return {"sasl.mechanism": mechanism, **_oidc(given)}
    raise UntranslatableSetting(name, f"{mechanism} is not one of {', '.join((*PASSWORD_MECHANISMS, 'OAUTHBEARER'))}")


def _oidc(given: dict[str, str]) -> dict[str, str]:
    method = given.get("sasl.oauthbearer.method", "default")
    if method.lower() != "oidc":
        raise UntranslatableSetting("sasl.oauthbearer.method", f"{method!r} would need a token handler of your own; oidc is known")
    grant = given.get("sasl.oauthbearer.grant.type", "client_credentials")
    if grant.lower() != "client_credentials":
        raise UntranslatableSetting("sasl.oauthbearer.grant.type", f"{grant!r} is not client_credentials")
    if ENDPOINT not in given:
        raise UntranslatableSetting(ENDPOINT, "oidc needs it")
    if urlsplit(given[ENDPOINT]).password is not None:
        raise UntranslatableSetting(ENDPOINT, "a password in an address ends up in logs; give sasl.oauthbearer.client.id and .client.secret")
    subject = {SUBJECT: given[SUBJECT]} if SUBJECT in given else {}
    return {ENDPOINT: given[ENDPOINT], **subject, **LOGIN, "sasl.jaas.config": oidc_jaas(given)}
