"""Which error a client's complaint becomes: what, where, got, expected, what to do, and no secret."""

from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from tablecast.errors import BrokerRefused, BrokerUnreachable, BrokerUntrusted, TablecastError, TokenUnavailable
from tablecast.kafka.complaints import LastComplaint, outdated
from tablecast.settings import KafkaSettings
from tests.certificates import Authority

PASSWORD = {"bootstrap.servers": "kafka:9093", "sasl.mechanism": "PLAIN", "sasl.username": "ann", "sasl.password": "hunter2"}
TOKEN = {
    "bootstrap.servers": "kafka:9093",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.token.endpoint.url": "https://login/token",
    "sasl.oauthbearer.client.id": "tables",
    "sasl.oauthbearer.client.secret": "hunter2",
}


def complained(given: dict[str, str], *complaints: tuple[int, str]) -> TablecastError:
    last = LastComplaint()
    for code, reason in complaints:
        last(KafkaError(code, reason))
    error = last.error("source", KafkaSettings(given), "no answer")
    assert "hunter2" not in str(error)
    return error


@pytest.mark.parametrize(
    ("given", "code", "reason", "kind", "told"),
    [
        (
            PASSWORD,
            KafkaError._AUTHENTICATION,
            "SASL error: hunter2 is wrong",
            BrokerRefused,
            r"kafka:9093 refuses .*\"sasl.username\" \(got 'ann'\)",
        ),
        (TOKEN, KafkaError.SASL_AUTHENTICATION_FAILED, "invalid_token", BrokerRefused, r"\"sasl.oauthbearer.scope\" \(not given\)"),
        (
            TOKEN,
            KafkaError._AUTHENTICATION,
            "Failed to acquire SASL OAUTHBEARER token: Connection refused",
            TokenUnavailable,
            r"https://login/token.*\(got 'tables'\)",
        ),
        ({"bootstrap.servers": "k"}, KafkaError._SSL, "certificate verify failed", BrokerUntrusted, r"\"ssl.ca.location\" \(not given\)"),
        ({"bootstrap.servers": "k"}, KafkaError._TRANSPORT, "Connection refused", BrokerUnreachable, "bootstrap.servers"),
    ],
)
def test_each_complaint_has_its_error(given: dict[str, str], code: int, reason: str, kind: type[TablecastError], told: str) -> None:
    error = complained(given, (code, reason))
    assert type(error) is kind
    assert error.transient
    with pytest.raises(kind, match=told):
        raise error


def test_that_all_are_down_says_less_than_why() -> None:
    error = complained(PASSWORD, (KafkaError._AUTHENTICATION, "wrong password."), (KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    assert error.message == "The source Kafka at kafka:9093 refuses these credentials: wrong password."


def test_that_an_old_token_is_refused_says_less_than_that_there_is_no_new_one() -> None:
    no_token = (KafkaError._AUTHENTICATION, "Failed to acquire SASL OAUTHBEARER token: Connection refused")
    assert type(complained(TOKEN, no_token, (KafkaError._AUTHENTICATION, "invalid_token"))) is TokenUnavailable
    assert type(complained(TOKEN, (KafkaError._AUTHENTICATION, "invalid_token"), no_token)) is TokenUnavailable
    assert type(complained(TOKEN, no_token, (KafkaError._TRANSPORT, "Disconnected"))) is BrokerUnreachable


def test_the_same_trouble_is_told_in_the_same_words() -> None:
    times = [f"Connect failed: refused (after {number}ms in state CONNECT, {number} identical error(s) suppressed)" for number in (1, 20)]
    first, second = (complained(PASSWORD, (KafkaError._TRANSPORT, text)) for text in times)
    assert str(first) == str(second)
    assert "in state" not in str(first)


def test_what_was_answered_since_is_no_complaint_any_more() -> None:
    last = LastComplaint()
    last(KafkaError(KafkaError._SSL, "no"))
    assert last.is_final
    last.forget()
    assert not last.is_final
    assert type(last.error("source", KafkaSettings(PASSWORD), "silence")) is BrokerUnreachable


def test_a_certificate_of_ours_that_is_out_of_date_is_named_with_its_dates(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    old, good = authority.issue("old", expired=True), authority.issue("good")
    given = {"ssl.ca.location": str(authority.certificate), "ssl.certificate.location": str(good.chain)}
    assert outdated(KafkaSettings(given)) == ""
    assert outdated(KafkaSettings({"ssl.certificate.pem": old.chain.read_text()})).startswith(
        "the certificate of ssl.certificate.pem, CN=old, is valid from"
    )
    error = complained(given | {"ssl.certificate.location": str(old.chain)}, (KafkaError._SSL, "alert 46"))
    assert "ssl.certificate.location, CN=old, is valid from" in error.message
    assert outdated(KafkaSettings({"ssl.ca.location": "absent", "ssl.certificate.pem": "nonsense"})) == ""
