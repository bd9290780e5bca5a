import pytest
from pydantic import SecretStr

from tablecast.errors import LoginRefused, LoginRequired
from tablecast.server.auth import Gate

GATE = Gate(SecretStr("schlüssel"))


def test_the_key_is_let_in() -> None:
    GATE.check("schlüssel")
    GATE.check_header("Bearer schlüssel")
    GATE.check_header("bearer  schlüssel ")


@pytest.mark.parametrize("key", ["", "schlüsse", "schlüssel ", "\ud800"])
def test_others_are_not(key: str) -> None:
    with pytest.raises(LoginRefused):
        GATE.check(key)


@pytest.mark.parametrize("header", [None, "", "Basic x", "schlüssel"])
def test_a_header_without_a_key_asks_for_one(header: str | None) -> None:
    with pytest.raises(LoginRequired):
        GATE.check_header(header)


def test_the_key_is_not_shown() -> None:
    assert "schl" not in repr(GATE)
