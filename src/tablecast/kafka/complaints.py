"""Why a Kafka cannot be talked to, as its client complains of it, and what to do about it."""

import logging
import re
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import KafkaError as Code
from cryptography import x509

from tablecast.errors import BrokerRefused, BrokerUnreachable, BrokerUntrusted, TokenUnavailable
from tablecast.kafka.tls_probe import certificate_flaw
from tablecast.settings import MASK, KafkaSettings, is_secret

log = logging.getLogger(__name__)

LOGIN = frozenset({Code._AUTHENTICATION, Code.SASL_AUTHENTICATION_FAILED, Code.UNSUPPORTED_SASL_MECHANISM, Code.ILLEGAL_SASL_STATE})
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
NO_TOKEN = ("Failed to acquire SASL OAUTHBEARER token", "Failed to retrieve OIDC token")
TLS_SIGNS = ("ssl handshake failed", "certificate", "ssl alert")
COUNTS = re.compile(r" \(after \d+ms in state \w+(?:, \d+ identical error\(s\) suppressed)?\)| after \d+ ms")
"""Other at each try, so that the same trouble would be told again and again."""
OWN_CERTIFICATES = ("ssl.certificate.location", "ssl.certificate.pem", "ssl.ca.location", "ssl.ca.pem")


class LastComplaint:
    """What a client complained of last; librdkafka tells the real reason of a failed connection only here."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.reason = ""

    def __call__(self, error: Code) -> None:
        # That all are down says less than why; and an old token is refused because there is no new one.
        says_less = error.code() == Code._ALL_BROKERS_DOWN or (_is_of_token(self.reason) and error.code() in LOGIN and not _is_of_token(error.str()))
        if not (self.reason and says_less):
            self.code, self.reason = error.code(), COUNTS.sub("", error.str()).rstrip(".")
        log.debug("[kafka] %s", error.str())

    def forget(self) -> None:
        """It was answered since."""
        self.code, self.reason = None, ""

    @property
    def is_final(self) -> bool:
        """Whether waiting alone mends nothing: somebody has to change a credential, a certificate or a server."""
        return self.code in LOGIN or self._is_of_tls

    @property
    def _is_of_tls(self) -> bool:
        return self.code == Code._SSL or any(sign in self.reason.lower() for sign in TLS_SIGNS)

    def error(self, role: str, kafka: KafkaSettings, otherwise: str) -> BrokerUnreachable:
        """`otherwise` is the reason if it never complained. No secret of the settings is in what it says."""
        reason = without_secrets(self.reason, kafka.root) or otherwise
        if _is_of_token(reason):
            return TokenUnavailable(role, kafka.servers, f"{kafka.root.get(ENDPOINT)}: {reason}", _token_hint(kafka))
        if self.code in LOGIN:
            return BrokerRefused(role, kafka.servers, reason, _login_hint(kafka))
        if self._is_of_tls:
            return BrokerUntrusted(role, kafka.servers, outdated(kafka) or certificate_flaw(kafka) or reason, _tls_hint(kafka))
        return BrokerUnreachable(role, kafka.servers, reason)


def _is_of_token(reason: str) -> bool:
    return any(sign in reason for sign in NO_TOKEN)


def without_secrets(text: str, settings: dict[str, str]) -> str:
    for name, value in settings.items():
        if is_secret(name) and value:
            text = text.replace(str(value), MASK)
    return text.rstrip(".")


def outdated(kafka: KafkaSettings) -> str:
    """Which of our own certificates is not valid today, by setting and date; nothing if all are, or none can be read."""
    now = datetime.now(UTC)
    for name in OWN_CERTIFICATES:
        for certificate in _certificates(name, kafka.root.get(name)):
            begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
            if not begin <= now <= end:
                whose = f"the certificate of {name}, {certificate.subject.rfc4514_string()}"
                return f"{whose}, is valid from {_told(begin)} to {_told(end)}, and it is {_told(now)}"
    return ""


def _told(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%MZ}"


def _certificates(name: str, given: str | None) -> list[x509.Certificate]:
    try:
        text = (given or "").encode() if name.endswith(".pem") else Path(given or "").read_bytes()
        return x509.load_pem_x509_certificates(text)
    except (OSError, ValueError):
        return []


def _got(kafka: KafkaSettings, name: str) -> str:
    return f'"{name}" (got {kafka.root[name]!r})' if name in kafka.root else f'"{name}" (not given)'


def _login_hint(kafka: KafkaSettings) -> str:
    mechanism = kafka.root.get("sasl.mechanism") or kafka.root.get("sasl.mechanisms") or ""
    if mechanism.upper() == "OAUTHBEARER":
        checked = f'{_got(kafka, "sasl.oauthbearer.scope")} and "sasl.oauthbearer.extensions", and which issuer and audience the broker expects'
    else:
        checked = f'"sasl.mechanism" (got {mechanism!r}), {_got(kafka, "sasl.username")} and "sasl.password", and that the broker has this user'
    return f"Check {checked}. It is tried again by itself."


def _token_hint(kafka: KafkaSettings) -> str:
    client = "sasl.oauthbearer.client.credentials.client.id" if "sasl.oauthbearer.client.id" not in kafka.root else "sasl.oauthbearer.client.id"
    secret = client.removesuffix("id") + "secret"
    return (
        f'Check that this endpoint answers, {_got(kafka, client)} and "{secret}", and, where its certificate is of an authority of your own, '
        f"{_got(kafka, 'https.ca.location')}. It is tried again by itself."
    )


def _tls_hint(kafka: KafkaSettings) -> str:
    return (
        f"Check {_got(kafka, 'security.protocol')}, {_got(kafka, 'ssl.ca.location')}, {_got(kafka, 'ssl.certificate.location')}, the dates of the "
        "certificates on both sides, and that the broker's names the host of bootstrap.servers. It is tried again by itself."
    )
