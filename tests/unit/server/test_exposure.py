"""A server that others can reach has TLS, and every server a way to log in."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from tablecast.errors import ConfigurationError
from tablecast.server.exposure import check_exposure
from tablecast.settings import ServerSettings

KEY = SecretStr("a key of a test")
OIDC = {"issuer": "https://provider.example", "audience": "tablecast"}


@pytest.mark.parametrize(
    "settings",
    [
        {"psk": KEY},
        {"psk": KEY, "host": "localhost"},
        {"psk": KEY, "host": "::1"},
        {"operator_psk": KEY},
        {"oidc": OIDC},
        {"psk": KEY, "host": "0.0.0.0", "tls_certificate": Path("chain.pem")},
        {"psk": KEY, "host": "0.0.0.0", "insecure": True},
    ],
)
def test_may_start(settings: dict[str, Any]) -> None:
    check_exposure(ServerSettings.model_validate(settings))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "2001:db8::1"])
def test_an_address_that_others_reach_needs_tls(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"server\.host .*got '.*', expected server\.tls_certificate .* server\.insecure = true"):
        check_exposure(ServerSettings(psk=KEY, host=host))


def test_nobody_serves_without_a_way_to_log_in() -> None:
    with pytest.raises(ConfigurationError, match=r"server\.psk") as refused:
        check_exposure(ServerSettings(host="0.0.0.0", insecure=True))
    assert len(refused.value.problems) == 1
    with pytest.raises(ConfigurationError) as both:
        check_exposure(ServerSettings(host="0.0.0.0"))
    assert len(both.value.problems) == 2
