"""Settings for each kind of client, and Kafka's errors as ours."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from tablecast.errors import BrokerRefused, BrokerUnreachable, BrokerUntrusted, ConfigurationError, TopicForbidden, TopicMissing
from tablecast.errors import KafkaError as OurKafkaError
from tablecast.kafka.clients import admin_config, consumer_config, make_admin, make_consumer, make_producer, producer_config, translated
from tablecast.kafka.twins import CREDENTIALS, DECIDED_BY_US, TUNING, TWINS
from tablecast.settings import KafkaSettings

KAFKA = KafkaSettings(
    {
        "bootstrap.servers": "127.0.0.1:9",
        "auto.offset.reset": "earliest",
        "linger.ms": "5",
        "message.max.bytes": "2000000",
        "security.protocol": "PLAINTEXT",
    }
)


def test_each_client_gets_what_concerns_it() -> None:
    shared = {"bootstrap.servers", "message.max.bytes", "security.protocol"}
    assert consumer_config(KAFKA).keys() == shared | {"auto.offset.reset"}
    assert producer_config(KAFKA).keys() == shared | {"linger.ms"}
    assert admin_config(KAFKA).keys() == shared


def test_every_client_can_be_made_of_the_same_settings_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    make_consumer(KAFKA, {"group.id": "g"}).close()
    make_producer(KAFKA, {})
    make_admin(KAFKA, {})
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", [*(twin.name for twin in TWINS), *CREDENTIALS, *DECIDED_BY_US, *TUNING])
def test_every_name_that_we_list_is_one_of_librdkafkas(name: str) -> None:
    refused = ""
    try:
        make_consumer(KafkaSettings({"bootstrap.servers": "127.0.0.1:9", name: "1"}), {"group.id": "g"}).close()
        make_producer(KafkaSettings({"bootstrap.servers": "127.0.0.1:9", name: "1"}), {})
    except ConfigurationError as error:
        refused = str(error)
    assert "No such configuration property" not in refused


def test_a_setting_that_librdkafka_does_not_know_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"kafka\.no\.such\.name"):
        make_producer(KafkaSettings({"bootstrap.servers": "127.0.0.1:9", "no.such.name": "x"}), {})


def test_a_value_that_the_python_client_refuses_is_named_too() -> None:
    with pytest.raises(ConfigurationError, match=r"kafka\.delivery\.report\.only\.error"):
        make_producer(KafkaSettings({"bootstrap.servers": "127.0.0.1:9", "delivery.report.only.error": "true"}), {})


def test_a_bad_value_is_told_without_secrets() -> None:
    secret = KafkaSettings({"bootstrap.servers": "127.0.0.1:9", "security.protocol": "nonsense", "sasl.password": "hunter22"})
    with pytest.raises(ConfigurationError, match=r"security\.protocol") as raised:
        make_admin(secret, {})
    assert "hunter22" not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PART, TopicMissing),
        (KafkaError._UNKNOWN_TOPIC, TopicMissing),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, TopicForbidden),
        (KafkaError._TRANSPORT, BrokerUnreachable),
        (KafkaError._TIMED_OUT, BrokerUnreachable),
        (KafkaError.SASL_AUTHENTICATION_FAILED, BrokerRefused),
        (KafkaError._SSL, BrokerUntrusted),
        (KafkaError.INVALID_REPLICATION_FACTOR, OurKafkaError),
    ],
)
def test_errors_are_translated(code: int, expected: type[Exception]) -> None:
    error = translated(KafkaException(KafkaError(code)), KAFKA, "source", "users")
    assert type(error) is expected
    assert "127.0.0.1:9" in str(error)


def test_a_forbidden_step_says_which() -> None:
    assert "may not create" in str(translated(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED), KAFKA, "changelog", "t", "create"))
