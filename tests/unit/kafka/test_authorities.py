"""A token endpoint is trusted as the system trusts it, wherever the system keeps that."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablecast.kafka import authorities
from tablecast.kafka.authorities import endpoint_authorities, system_authorities
from tablecast.kafka.clients import make_consumer
from tablecast.settings import KafkaSettings
from tests.certificates import Authority
from tests.token_server import TokenServer

OIDC = {"sasl.oauthbearer.method": "oidc"}


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that this system trusts."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    return authority


@pytest.fixture
def tokens(trusted: Authority) -> Iterator[TokenServer]:
    with TokenServer({"tables": "secret"}, certificate=trusted.issue("login")) as server:
        yield server


def test_only_a_token_endpoint_without_an_authority_of_its_own_needs_one(trusted: Authority) -> None:
    place = {"https.ca.location": str(trusted.certificate)}
    assert endpoint_authorities(OIDC) == endpoint_authorities(OIDC | {"https.ca.location": "probe"}) == place
    assert endpoint_authorities({}) == {}
    assert endpoint_authorities(OIDC | {"https.ca.location": "/company.pem"}) == {}
    assert endpoint_authorities(OIDC | {"https.ca.pem": "PEM"}) == {}


def test_the_usual_places_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent"))
    monkeypatch.setattr(authorities, "PLACES", (str(tmp_path / "neither"), str(tmp_path / "bundle")))
    assert system_authorities() is None
    assert endpoint_authorities(OIDC) == {}
    (tmp_path / "bundle").touch()
    assert system_authorities() == str(tmp_path / "bundle")


def test_a_client_gets_a_token_from_an_endpoint_that_the_system_trusts(tokens: TokenServer) -> None:
    endpoint = {"sasl.oauthbearer.token.endpoint.url": tokens.token_endpoint}
    login = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.client.id": "tables", "sasl.oauthbearer.client.secret": "secret"}
    given = {"bootstrap.servers": "127.0.0.1:9", "security.protocol": "SASL_PLAINTEXT", **OIDC, **endpoint, **login}
    consumer = make_consumer(KafkaSettings(given), {"group.id": "test"})
    deadline = time.monotonic() + 10
    while not tokens.asked and time.monotonic() < deadline:
        consumer.poll(0.05)
    consumer.close()
    assert [asked.granted for asked in tokens.asked] == [True]
