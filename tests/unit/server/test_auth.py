"""V1: who is let in, as what, and for how long."""

import asyncio

import pytest
from pydantic import SecretStr

from tablecast.login_errors import KeyWithdrawn, LoginRefused, LoginRequired, LoginsTooMany, LoginUnavailable, TokenExpired, TokenRefused
from tablecast.server.auth import Entry, Gate, credential_in
from tablecast.server.brake import BURST, Brake
from tablecast.server.key_set import APART_SECONDS
from tablecast.server.keys import Keys
from tablecast.server.tokens import Tokens
from tests.token_server import TokenServer

from .talking import Clock
from .test_key_set import Provider
from .test_tokens import settings_of

TOKEN_CLOCK = 2_000_000_000.0


@pytest.fixture
def gate(clock: Clock) -> Gate:
    return Gate(Keys(SecretStr("schlüssel")), brake=Brake(clock=clock))


def test_the_key_is_let_in(gate: Gate) -> None:
    entry = gate.check("schlüssel")
    assert entry is not None
    assert (entry.role, entry.expires) == ("operator", None)


@pytest.mark.parametrize("header", [None, "", "Basic x", "schlüssel"])
def test_a_header_without_a_key_asks_for_one(header: str | None) -> None:
    with pytest.raises(LoginRequired):
        credential_in(header)


def test_a_header_has_the_key_behind_its_word() -> None:
    assert credential_in("Bearer schlüssel") == credential_in("bearer  schlüssel ") == "schlüssel"


def test_who_guesses_is_slowed_down_and_a_good_key_waits_no_longer_than_that(gate: Gate, clock: Clock) -> None:
    for number in range(BURST):
        with pytest.raises(LoginRefused):
            gate.check(f"guess {number}", "192.0.2.1")
    with pytest.raises(LoginsTooMany) as refused:
        gate.check("schlüssel", "192.0.2.1")
    assert (refused.value.status, refused.value.close_code, refused.value.retry_after) == (429, 4429, 1)
    assert gate.check("schlüssel", "192.0.2.2") is not None, "another address"
    clock.now += 1
    assert gate.check("schlüssel", "192.0.2.1") is not None


def test_a_script_with_an_old_key_locks_nobody_out(gate: Gate) -> None:
    for _ in range(10 * BURST):
        with pytest.raises(LoginRefused):
            gate.check("the old one", "192.0.2.1")
    assert gate.check("schlüssel", "192.0.2.1") is not None


def test_refused_logins_are_logged_with_their_address_and_without_the_key(gate: Gate, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    for _ in range(3):
        with pytest.raises(LoginRefused):
            gate.check("the old one", "192.0.2.1")
    assert caplog.messages == ["[server] a login from 192.0.2.1 is refused: wrong_key"]


def test_a_key_that_was_withdrawn_is_not_good_any_more(gate: Gate) -> None:
    entry = gate.check("schlüssel")
    assert entry is not None
    gate.review(entry)
    gate.keys.take(SecretStr("schlüssel\nder nächste"), None)
    gate.review(entry)
    gate.keys.take(SecretStr("der nächste"), None)
    with pytest.raises(KeyWithdrawn):
        gate.review(entry)


def test_a_token_is_good_until_it_expires() -> None:
    now = [TOKEN_CLOCK]
    gate = Gate(Keys(), clock=lambda: now[0])
    entry = Entry("viewer", expires=TOKEN_CLOCK + 60)
    gate.review(entry)
    now[0] += 60
    with pytest.raises(TokenExpired):
        gate.review(entry)


def test_without_a_provider_a_token_is_a_wrong_key(gate: Gate, provider: TokenServer) -> None:
    with pytest.raises(LoginRefused):
        gate.check(provider.token("zoe"))


def test_a_token_of_an_unknown_key_waits_for_the_provider(provider: TokenServer, clock: Clock) -> None:
    asked = Provider(provider, clock)
    gate = Gate(Keys(SecretStr("schlüssel")), Tokens(settings_of(provider), asked.keys), Brake(clock=clock))
    token = provider.token("zoe", roles=["viewer"])

    async def scenario() -> None:
        assert gate.check(token) is None
        assert (await gate.decide(token)).role == "viewer"
        entry = gate.check(token)
        assert entry is not None, "known from now on"
        foreign = TokenServer().token("zoe", iss=provider.issuer)
        with pytest.raises(LoginUnavailable):
            await gate.decide(foreign)
        clock.now += APART_SECONDS
        with pytest.raises(TokenRefused, match="no key of its provider"):
            await gate.decide(foreign)

    asyncio.run(scenario())


def test_while_the_provider_is_away_keys_still_work(provider: TokenServer, clock: Clock) -> None:
    asked = Provider(provider, clock)
    asked.away = True
    gate = Gate(Keys(SecretStr("schlüssel")), Tokens(settings_of(provider), asked.keys), Brake(clock=clock))

    async def scenario() -> None:
        with pytest.raises(LoginUnavailable):
            await gate.decide(provider.token("zoe"))
        assert (await gate.decide("schlüssel")).role == "operator"

    asyncio.run(scenario())
