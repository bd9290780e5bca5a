"""librdkafka's settings in Java's words, mechanism by mechanism."""

from pathlib import Path
from typing import Literal

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

from tablecast.errors import UntranslatableSetting
from tablecast.kafka.java_settings import JavaSettings, java_properties, java_settings
from tablecast.kafka.twins import CREDENTIALS, DECIDED_BY_US, TUNING, TWINS
from tablecast.settings import KafkaSettings

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PRIVATE_KEY = ec.generate_private_key(ec.SECP256R1())
KEY = PRIVATE_KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
OIDC = {
    "bootstrap.servers": "kafka.example:9093",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    "sasl.oauthbearer.client.id": "tables",
    "sasl.oauthbearer.client.secret": "s3cret",
}


def translate(given: dict[str, str], side: Literal["consumer", "producer"] = "consumer") -> JavaSettings:
    return java_settings(KafkaSettings({"bootstrap.servers": "kafka:9092"} | given), side)


def test_plaintext_needs_nothing_but_the_servers() -> None:
    assert translate({}, "producer").settings == {"bootstrap.servers": "kafka:9092"}


def test_spark_reads_what_librdkafka_reads_by_default() -> None:
    assert translate({}).settings["isolation.level"] == "read_committed"
    assert translate({"isolation.level": "read_uncommitted"}).settings["isolation.level"] == "read_uncommitted"


def test_spark_options_have_the_prefix() -> None:
    assert translate({"client.id": "t"}, "producer").spark_options() == {"kafka.bootstrap.servers": "kafka:9092", "kafka.client.id": "t"}


def test_a_twin_goes_to_its_own_side() -> None:
    given = {"fetch.wait.max.ms": "10", "linger.ms": "5", "socket.timeout.ms": "9000"}
    assert translate(given).settings == {
        "bootstrap.servers": "kafka:9092",
        "isolation.level": "read_committed",
        "fetch.max.wait.ms": "10",
        "request.timeout.ms": "9000",
    }
    assert translate(given, "producer").settings == {"bootstrap.servers": "kafka:9092", "linger.ms": "5", "request.timeout.ms": "9000"}


def test_what_spark_decides_and_harmless_tuning_is_dropped_and_told() -> None:
    assert translate({"auto.offset.reset": "earliest", "group.id": "g", "statistics.interval.ms": "0"}).dropped == (
        "auto.offset.reset",
        "group.id",
        "statistics.interval.ms",
    )


@pytest.mark.parametrize("name", ["ssl.cipher.suites", "ssl.crl.location", "sasl.kerberos.keytab", "plugin.library.paths", "no.such.setting"])
def test_an_unknown_or_untranslatable_setting_is_named(name: str) -> None:
    with pytest.raises(UntranslatableSetting, match=name):
        translate({name: "x"})


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
        ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
        ("SCRAM-SHA-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    ],
)
def test_a_password_becomes_a_login_line(mechanism: str, module: str) -> None:
    java = translate({"security.protocol": "sasl_plaintext", "sasl.mechanisms": mechanism, "sasl.username": "ann", "sasl.password": 'a"b\\c\nd\x01'})
    assert java.settings["security.protocol"] == "SASL_PLAINTEXT"
    assert java.settings["sasl.mechanism"] == mechanism
    assert java.settings["sasl.jaas.config"] == f'{module} required username="ann" password="a\\"b\\\\c\\nd\\001";'


def test_a_missing_password_is_named() -> None:
    with pytest.raises(UntranslatableSetting, match=r"sasl\.password"):
        translate({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "ann"})


@pytest.mark.parametrize("given", [{"sasl.mechanism": "GSSAPI"}, {}])
def test_kerberos_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(UntranslatableSetting, match="GSSAPI"):
        translate({"security.protocol": "SASL_PLAINTEXT"} | given)


def test_oidc() -> None:
    java = java_settings(
        KafkaSettings(OIDC | {"sasl.oauthbearer.scope": "kafka read", "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,pool=p"}), "producer"
    )
    assert java.settings == {
        "bootstrap.servers": "kafka.example:9093",
        "security.protocol": "SASL_SSL",
        "ssl.endpoint.identification.algorithm": "https",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
        "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
        "sasl.login.connect.timeout.ms": "10000",
        "sasl.login.read.timeout.ms": "10000",
        "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        'clientId="tables" clientSecret="s3cret" scope="kafka read" extension_logicalCluster="lkc-1" extension_pool="p";',
    }
    assert java.properties == {"org.apache.kafka.sasl.oauthbearer.allowed.urls": "https://login.example/token"}
    elsewhere = java_settings(KafkaSettings(OIDC | {"sasl.oauthbearer.token.endpoint.url": "https://other.example/token"}), "producer")
    assert java_properties(java, elsewhere, java, translate({})) == {
        "org.apache.kafka.sasl.oauthbearer.allowed.urls": "https://login.example/token,https://other.example/token"
    }
    assert java_properties(translate({})) == {}


def test_oidc_trusts_an_authority_of_its_own_for_the_token_endpoint(tmp_path: Path) -> None:
    (tmp_path / "idp.pem").write_text(CERTIFICATE)
    java = java_settings(KafkaSettings(OIDC | {"https.ca.location": str(tmp_path / "idp.pem")}), "consumer")
    expected = CERTIFICATE.replace("\n", "\\n")
    assert f'ssl.truststore.type="PEM" ssl.truststore.certificates="{expected}"' in java.settings["sasl.jaas.config"]
    assert "ssl.truststore.certificates" not in java.settings


def test_oidc_with_the_newer_names() -> None:
    newer = {name.replace("oauthbearer.client.", "oauthbearer.client.credentials.client."): value for name, value in OIDC.items()}
    assert java_settings(KafkaSettings(newer), "consumer") == java_settings(KafkaSettings(OIDC), "consumer")


@pytest.mark.parametrize("name", ["sasl.oauthbearer.token.endpoint.url", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret"])
def test_oidc_names_what_it_misses(name: str) -> None:
    with pytest.raises(UntranslatableSetting, match=name):
        java_settings(KafkaSettings({key: value for key, value in OIDC.items() if key != name}), "consumer")


@pytest.mark.parametrize(
    "given", [{"sasl.oauthbearer.method": "default"}, {"sasl.oauthbearer.grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}]
)
def test_other_ways_to_a_token_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UntranslatableSetting, match=next(iter(given))):
        java_settings(KafkaSettings(OIDC | given), "consumer")


def test_a_password_in_the_address_of_the_token_endpoint_is_refused_and_not_told() -> None:
    with pytest.raises(UntranslatableSetting, match=r"token\.endpoint\.url.*client\.secret") as raised:
        java_settings(KafkaSettings(OIDC | {"sasl.oauthbearer.token.endpoint.url": "https://me:hunter2@login.example/token"}), "consumer")
    assert "hunter2" not in str(raised.value)


def pem(form: PrivateFormat, password: str = "") -> str:
    hidden = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return PRIVATE_KEY.private_bytes(Encoding.PEM, form, hidden).decode()


@pytest.mark.parametrize(
    "given",
    [{"ssl.key.pem": KEY}, {"ssl.key.pem": KEY, "ssl.key.password": "not needed"}, {"ssl.key.pem": pem(PrivateFormat.TraditionalOpenSSL)}]
    + [{"ssl.key.pem": pem(form, "pw"), "ssl.key.password": "pw"} for form in (PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL)],
)
def test_a_key_of_any_form_is_said_as_java_wants_it(given: dict[str, str]) -> None:
    java = translate({"security.protocol": "SSL", "ssl.certificate.pem": CERTIFICATE, **given})
    assert java.settings["ssl.keystore.key"] == KEY
    assert "ssl.key.password" not in java.settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"ssl.key.pem": pem(PrivateFormat.PKCS8, "pw")}, r"'ssl\.key\.password'.*is encrypted"),
        ({"ssl.key.pem": pem(PrivateFormat.PKCS8, "pw"), "ssl.key.password": "hunter2"}, r"'ssl\.key\.pem'.*that ssl\.key\.password opens"),
        ({"ssl.key.pem": CERTIFICATE}, r"'ssl\.key\.pem'.*no private key"),
    ],
)
def test_a_key_that_cannot_be_opened_is_named(given: dict[str, str], told: str) -> None:
    with pytest.raises(UntranslatableSetting, match=told) as raised:
        translate({"security.protocol": "SSL", "ssl.certificate.pem": CERTIFICATE, **given})
    assert "hunter2" not in str(raised.value)


def test_ssl_reads_certificates_and_key(tmp_path: Path) -> None:
    for name, text in {"ca": CERTIFICATE, "client": CERTIFICATE, "key": pem(PrivateFormat.PKCS8, "pw")}.items():
        (tmp_path / name).write_text(text)
    files = {"ssl.ca.location": "ca", "ssl.certificate.location": "client", "ssl.key.location": "key"}
    given = {name: str(tmp_path / file) for name, file in files.items()} | {"ssl.key.password": "pw"}
    assert translate({"security.protocol": "ssl", "ssl.endpoint.identification.algorithm": "none"} | given, "producer").settings == {
        "bootstrap.servers": "kafka:9092",
        "security.protocol": "SSL",
        "ssl.endpoint.identification.algorithm": "",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": CERTIFICATE,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": CERTIFICATE,
        "ssl.keystore.key": KEY,
    }


def test_ssl_given_as_text_or_as_a_keystore() -> None:
    java = translate({"security.protocol": "ssl", "ssl.ca.pem": CERTIFICATE, "ssl.keystore.location": "k.p12", "ssl.keystore.password": "pw"})
    assert java.settings["ssl.truststore.certificates"] == CERTIFICATE
    assert java.settings["ssl.keystore.type"] == "PKCS12"
    assert java.settings["ssl.keystore.password"] == "pw"


def test_java_uses_its_own_authorities_when_none_is_given() -> None:
    assert not any(name.startswith("ssl.truststore") for name in translate({"security.protocol": "SSL", "ssl.ca.location": "probe"}).settings)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"enable.ssl.certificate.verification": "false"}, "always verifies"),
        ({"ssl.ca.location": "/"}, "folder"),
        ({"ssl.ca.location": "absent.pem"}, "cannot be read"),
        ({"ssl.certificate.pem": CERTIFICATE}, "come together"),
    ],
)
def test_ssl_that_java_cannot_do(given: dict[str, str], why: str) -> None:
    with pytest.raises(UntranslatableSetting, match=why):
        translate({"security.protocol": "SSL"} | given)


def test_no_secret_in_a_repr() -> None:
    assert "s3cret" not in repr(java_settings(KafkaSettings(OIDC), "consumer"))


def test_every_name_stands_once() -> None:
    names = [*(twin.name for twin in TWINS), *CREDENTIALS, *DECIDED_BY_US, *TUNING]
    assert len(names) == len(set(names))


def test_the_documentation_lists_every_setting() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "kafka.md").read_text()
    for twin in TWINS:
        assert f"| `{twin.name}` | `{twin.java}` | {twin.side} |" in text
    for name, said in (CREDENTIALS | DECIDED_BY_US).items():
        assert f"| `{name}` | {said} |" in text
    for name in TUNING:
        assert f"`{name}`" in text
    listed = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert listed == {twin.name for twin in TWINS} | CREDENTIALS.keys() | DECIDED_BY_US.keys()
