"""The signing keys of an OpenID provider: fetched in a thread, kept for a while, and fetched again when a token names one that is not known."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

import jwt

from tablecast.settings import OidcSettings

log = logging.getLogger(__name__)

APART_SECONDS = 10.0
"""Between two fetches: whoever makes up ids of keys makes the server ask no more often."""
FRESH_SECONDS = 3600.0
"""After so long they are fetched again: one that the provider has withdrawn shall not be taken for ever."""
ANSWER_SECONDS = 5.0
MOST_BYTES = 1_000_000
DISCOVERY = "/.well-known/openid-configuration"

Read = Callable[[], list[dict[str, Any]]]


class KeySet:
    """Belongs to the event loop. `round` is another number whenever the keys are others."""

    def __init__(self, read: Read, now: Callable[[], float] = time.time, clock: Callable[[], float] = time.monotonic) -> None:
        """`read` gets the keys as the provider tells them. It may block; it is called in a thread."""
        self.now = now
        self.round = 0
        self._read = read
        self._clock = clock
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._asked = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    def find(self, kid: str | None) -> jwt.PyJWK | None:
        """The key with this id. A token without one can only be of the only key there is."""
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    async def fetch(self) -> bool:
        """Asks the provider, unless it was asked a moment ago. Whether it has answered now: only then is an unknown key none of its own."""
        before = self.round
        if self._fetching is None and self._clock() - self._asked >= APART_SECONDS:
            self._begin()
        if self._fetching is not None:
            # One who gives up must not take the answer away from the others.
            await asyncio.shield(self._fetching)
        return self.round != before

    def keep_fresh(self) -> None:
        """Lets keys that are old be fetched again, while they are still used."""
        if self._keys and self._fetching is None and self._clock() - self._asked >= FRESH_SECONDS:
            self._begin()

    def _begin(self) -> None:
        self._asked = self._clock()
        self._fetching = asyncio.get_running_loop().create_task(self._take())

    async def _take(self) -> None:
        try:
            self._replace(await asyncio.to_thread(self._read))
        except (OSError, ValueError) as error:
            log.warning("[server] the signing keys of the OpenID provider cannot be fetched: %s", error, extra={"event": "no_signing_keys"})
        finally:
            self._fetching = None

    def _replace(self, told: list[dict[str, Any]]) -> None:
        keys = {found[0]: found[1] for found in map(_key, told) if found is not None}
        if not keys:
            raise ValueError("it tells of no key that can verify a signature")
        if keys.keys() != self._keys.keys():
            log.info("[server] the OpenID provider has %d signing keys", len(keys), extra={"event": "signing_keys", "keys": len(keys)})
        self._keys = keys
        self.round += 1


def provider_keys(settings: OidcSettings) -> Read:
    """Reads the keys where the settings say, or where the provider says."""
    context = ssl.create_default_context(cafile=settings.ca)
    opener = build_opener(HTTPSHandler(context=context), _Stay())

    def ask(url: str) -> dict[str, Any]:
        with opener.open(Request(url, headers={"accept": "application/json"}), timeout=ANSWER_SECONDS) as answer:  # noqa: S310
            told = json.loads(answer.read(MOST_BYTES))
        if not isinstance(told, dict):
            raise ValueError(f"{url} does not answer with an object")
        return told

    def read() -> list[dict[str, Any]]:
        url = settings.jwks_url or _jwks_url(ask(settings.issuer.rstrip("/") + DISCOVERY), settings.issuer)
        keys = ask(url).get("keys")
        if not isinstance(keys, list):
            raise ValueError(f"{url} does not answer with keys")
        return keys

    return read


class _Stay(HTTPRedirectHandler):
    """What decides who is let in is asked where the settings say, and nowhere else."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


def _jwks_url(told: dict[str, Any], issuer: str) -> str:
    if told.get("issuer") != issuer:
        raise ValueError(f"the provider calls itself {str(told.get('issuer'))[:200]!r}, and server.oidc.issuer is {issuer!r}")
    url = str(told.get("jwks_uri", ""))
    if not url.startswith("https://" if issuer.startswith("https://") else ("http://", "https://")):
        raise ValueError(f"its jwks_uri is {url[:200]!r}, expected an address that begins with https://")
    return url


def _key(told: object) -> tuple[str | None, jwt.PyJWK] | None:
    """A key for signatures; None for another one, or one of a kind that is not known here."""
    if not isinstance(told, dict) or told.get("use", "sig") != "sig" or told.get("kty") == "oct":
        return None
    try:
        return told.get("kid"), jwt.PyJWK.from_dict(told)
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
