"""Makes every Kafka client of ours, and translates what Kafka throws into our errors."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka import KafkaError as Code
from confluent_kafka.admin import AdminClient

from tablecast.errors import ConfigurationError, KafkaError, Problem, TablecastError, TopicForbidden, TopicMissing
from tablecast.kafka.authorities import endpoint_authorities
from tablecast.kafka.complaints import LastComplaint, without_secrets
from tablecast.kafka.twins import CONSUMER_NAMES, PRODUCER_NAMES
from tablecast.settings import MASK, KafkaSettings, is_secret

log = logging.getLogger(__name__)

Client = TypeVar("Client")

ASK_SECONDS = 2.0
AT_LEISURE = {"fetch.wait.max.ms": 2000}
"""For who waits for records that come seldom: what comes is told at once, and a broker at rest is left alone. Not longer, because all else that is
asked on the connection, as to renew a login, has its turn only then."""

MISSING = frozenset({Code.UNKNOWN_TOPIC_OR_PART, Code.UNKNOWN_TOPIC_ID, Code._UNKNOWN_TOPIC, Code._UNKNOWN_PARTITION})
FORBIDDEN = frozenset({Code.TOPIC_AUTHORIZATION_FAILED, Code.CLUSTER_AUTHORIZATION_FAILED})
UNREACHABLE = frozenset(
    {Code._TRANSPORT, Code._ALL_BROKERS_DOWN, Code._TIMED_OUT, Code._RESOLVE, Code._SSL, Code._AUTHENTICATION, Code.SASL_AUTHENTICATION_FAILED}
    | {Code.BROKER_NOT_AVAILABLE, Code.REQUEST_TIMED_OUT, Code.NETWORK_EXCEPTION, Code._TIMED_OUT_QUEUE, Code._MSG_TIMED_OUT}
)


def consumer_config(kafka: KafkaSettings) -> dict[str, Any]:
    return {name: value for name, value in kafka.root.items() if name not in PRODUCER_NAMES}


def producer_config(kafka: KafkaSettings) -> dict[str, Any]:
    return {name: value for name, value in kafka.root.items() if name not in CONSUMER_NAMES}


def admin_config(kafka: KafkaSettings) -> dict[str, Any]:
    return {name: value for name, value in kafka.root.items() if name not in CONSUMER_NAMES | PRODUCER_NAMES}


def make_consumer(kafka: KafkaSettings, own: Mapping[str, Any]) -> Consumer:
    """`own` wins over the user's settings. A setting that librdkafka does not take is a ConfigurationError that names it."""
    return _made(Consumer, consumer_config(kafka), own)


def assign_from_beginning(consumer: Consumer, places: Iterable[tuple[str, int]]) -> None:
    """`places` are topics and partitions. A consumer that is told to begin at the beginning, wherever that is, looks for it before it knows the
    leaders, and again half a second later; asked where it is, it tells at once."""
    consumer.assign([TopicPartition(topic, partition, _beginning(consumer, topic, partition)) for topic, partition in places])


def _beginning(consumer: Consumer, topic: str, partition: int) -> int:
    try:
        return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=ASK_SECONDS)[0]
    except KafkaException:
        return OFFSET_BEGINNING


def make_producer(kafka: KafkaSettings, own: Mapping[str, Any]) -> Producer:
    return _made(Producer, producer_config(kafka), own)


def make_admin(kafka: KafkaSettings, own: Mapping[str, Any]) -> AdminClient:
    return _made(AdminClient, admin_config(kafka), own)


def _made(kind: Callable[..., Client], given: dict[str, Any], own: Mapping[str, Any]) -> Client:
    config = _quiet(given) | endpoint_authorities(given) | dict(own)
    try:
        return kind(config, logger=log)
    except KafkaException as error:
        raise _bad_setting(code_of(error).str(), config) from error
    except (TypeError, ValueError) as error:
        raise _bad_setting(str(error), config) from error


def _quiet(config: dict[str, Any]) -> dict[str, Any]:
    """Disconnects of an idle or restarting broker are daily life, not log lines; real trouble arrives at error_cb."""
    return {"log_level": 2, "error_cb": LastComplaint(), **config}


def _bad_setting(reason: str, config: Mapping[str, Any]) -> ConfigurationError:
    name = next((name for name in sorted(config, key=len, reverse=True) if name in reason), "kafka")
    got = MASK if is_secret(name) else repr(config.get(name, ""))
    expected = f"something that it takes: {without_secrets(reason, dict(config))}"
    return ConfigurationError([Problem(f"kafka.{name}", "given to librdkafka", got, expected)])


def concerns_group(error: Code | None) -> bool:
    """librdkafka looks for the coordinator of a group although we read without one: that we have no right to a group is no trouble of ours."""
    return error is not None and (error.code() == Code.GROUP_AUTHORIZATION_FAILED or error.str().startswith("FindCoordinator"))


def code_of(error: KafkaException | Code) -> Code:
    if isinstance(error, KafkaException):
        code = error.args[0]
        assert isinstance(code, Code)
        return code
    return error


def translated(
    error: KafkaException | Code, kafka: KafkaSettings, role: str, topic: str = "", action: str = "read", complaint: LastComplaint | None = None
) -> TablecastError:
    """Our error for one of Kafka's. `role` is which Kafka it is ("source", "changelog"), `action` what was tried with `topic`. Why nobody answers is
    known best to the `complaint` of the client, if it is given."""
    code = code_of(error)
    if code.code() in MISSING:
        return TopicMissing(topic, kafka.servers)
    if code.code() in FORBIDDEN:
        return TopicForbidden(topic, kafka.servers, action)
    if code.code() in UNREACHABLE:
        if complaint is None or not complaint.reason:
            complaint = LastComplaint()
            complaint(code)
        return complaint.error(role, kafka, "")
    return KafkaError(
        f"The {role} Kafka at {kafka.servers} refused to {action} {topic!r}: {code.str().rstrip('.')}.", "tablecast check tries it from here."
    )
