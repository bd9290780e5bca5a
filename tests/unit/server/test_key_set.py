"""The signing keys of a provider: asked for in a thread, not too often, and kept while it is away."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tablecast.server.key_set import APART_SECONDS, FRESH_SECONDS, KeySet, provider_keys
from tests.certificates import Authority
from tests.token_server import TokenServer

from .talking import Clock
from .test_tokens import settings_of


class Provider:
    """A key set that asks a token server without a socket, and counts."""

    def __init__(self, server: TokenServer, clock: Clock) -> None:
        self.server = server
        self.away = False
        self.threads: list[int] = []
        self.keys = KeySet(self._read, clock=clock)

    def _read(self) -> list[dict[str, Any]]:
        self.threads.append(threading.get_ident())
        if self.away:
            raise OSError("nobody is there")
        told = self.server.published("/jwks")
        assert told is not None
        keys: list[dict[str, Any]] = told["keys"]
        return keys


def ids(provider: TokenServer) -> list[str]:
    told = provider.published("/jwks")
    assert told is not None
    return [key["kid"] for key in told["keys"]]


def test_an_unknown_key_is_asked_for_at_most_so_often_and_never_on_the_loop(provider: TokenServer, clock: Clock) -> None:
    asked = Provider(provider, clock)

    async def scenario() -> None:
        await asyncio.gather(*(asked.keys.fetch() for _ in range(5)))
        assert asked.keys.find(ids(provider)[0]) is not None
        provider.rotate()
        new = ids(provider)[-1]
        await asked.keys.fetch()
        assert asked.keys.find(new) is None, "it was asked a moment ago"
        clock.now += APART_SECONDS
        await asked.keys.fetch()
        assert asked.keys.find(new) is not None
        assert threading.get_ident() not in asked.threads

    asyncio.run(scenario())
    assert len(asked.threads) == 2


def test_a_key_that_the_provider_has_withdrawn_goes_in_time(provider: TokenServer, clock: Clock) -> None:
    asked = Provider(provider, clock)

    async def scenario() -> None:
        await asked.keys.fetch()
        old, round = ids(provider)[0], asked.keys.round
        provider.rotate(forget=True)
        asked.keys.keep_fresh()
        assert asked.keys.round == round
        clock.now += FRESH_SECONDS
        asked.keys.keep_fresh()
        assert asked.keys.find(old) is not None, "until the answer is there the old ones are used"
        while asked.keys.round == round:
            await asyncio.sleep(0)
        assert asked.keys.find(old) is None

    asyncio.run(scenario())


def test_what_is_known_stays_while_the_provider_is_away(provider: TokenServer, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    asked = Provider(provider, clock)

    async def scenario() -> None:
        asked.away = True
        assert not await asked.keys.fetch()
        asked.away = False
        clock.now += APART_SECONDS
        assert await asked.keys.fetch()
        assert not await asked.keys.fetch(), "it was asked a moment ago"
        asked.away = True
        clock.now += APART_SECONDS
        assert not await asked.keys.fetch()
        assert asked.keys.find(ids(provider)[0]) is not None

    asyncio.run(scenario())
    assert caplog.text.count("cannot be fetched: nobody is there") == 2


def test_one_who_gives_up_does_not_take_the_answer_away_from_others(clock: Clock) -> None:
    began, go = threading.Event(), threading.Event()

    def read() -> list[dict[str, Any]]:
        began.set()
        go.wait(5)
        raise OSError("too late")

    async def scenario() -> None:
        keys = KeySet(read, clock=clock)
        first, second = asyncio.create_task(keys.fetch()), asyncio.create_task(keys.fetch())
        while not began.is_set():
            await asyncio.sleep(0)
        first.cancel()
        go.set()
        assert not await second

    asyncio.run(scenario())


def test_a_token_without_an_id_is_of_the_only_key(provider: TokenServer, clock: Clock) -> None:
    asked = Provider(provider, clock)

    async def scenario() -> None:
        await asked.keys.fetch()
        assert asked.keys.find(None) is not None
        provider.rotate()
        clock.now += APART_SECONDS
        await asked.keys.fetch()
        assert asked.keys.find(None) is None

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "told",
    [[], [{"kty": "oct", "kid": "1", "k": "c2VjcmV0"}], [{"kty": "RSA", "use": "enc"}], [{"kty": "new"}], [7, None]],
    ids=["none", "a shared secret", "for encryption", "of an unknown kind", "no keys"],
)
def test_keys_that_verify_nothing_are_none(told: list[Any], clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        assert not await KeySet(lambda: told, clock=clock).fetch()

    asyncio.run(scenario())
    assert "tells of no key" in caplog.text


def test_keys_are_found_by_discovery_over_tls_and_nowhere_else(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with TokenServer(certificate=authority.issue("provider")) as provider:
        found = provider_keys(settings_of(provider, ca=authority.certificate))()
        assert [key["kid"] for key in found] == ids(provider)
        direct = settings_of(provider, ca=authority.certificate, jwks_url=provider.keys_url)
        assert provider_keys(direct)() == found
        with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
            provider_keys(settings_of(provider))()
        with pytest.raises(ValueError, match="calls itself"):
            provider_keys(settings_of(provider, ca=authority.certificate, issuer=provider.issuer + "/"))()


def test_a_provider_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablecast.server.key_set.ANSWER_SECONDS", 0.1)
    provider = TokenServer()
    began = time.monotonic()
    with pytest.raises(OSError, match="refused"):
        provider_keys(settings_of(provider))()
    assert time.monotonic() - began < 5
