"""Who is let in, and as what: by a pre-shared key, or by a token of an OpenID provider."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from tablecast.errors import ViewerError
from tablecast.login_errors import KeyWithdrawn, LoginRefused, LoginRequired, LoginsTooMany, LoginUnavailable, TokenExpired, TokenRefused
from tablecast.server.brake import Brake
from tablecast.server.keys import Keys
from tablecast.server.tokens import Tokens, looks_like_token
from tablecast.wire.messages import Role

log = logging.getLogger(__name__)

_BEARER = "bearer "


@dataclass(frozen=True)
class Entry:
    """What a login gives: a role, and for how long. `key` is the digest of the pre-shared key it was given for, `expires` is by time.time()."""

    role: Role
    key: bytes | None = None
    expires: float | None = None


class Gate:
    """Lets in who has a key or a token, at the speed that the brake allows. Belongs to the event loop."""

    def __init__(self, keys: Keys, tokens: Tokens | None = None, brake: Brake | None = None, clock: Callable[[], float] = time.time) -> None:
        self.keys = keys
        self._tokens = tokens
        self._brake = Brake() if brake is None else brake
        self._clock = clock

    def check(self, credential: str, address: str = "") -> Entry | None:
        """None if that can only be told when the provider's signing keys are fetched: then `decide`. Raises what keeps this one out."""
        if (wait := self._brake.wait(address, credential)) > 0:
            raise LoginsTooMany(wait)
        try:
            return self._known(credential)
        except (LoginRefused, TokenRefused) as error:
            self._failed(address, credential, error)
            raise

    async def decide(self, credential: str, address: str = "") -> Entry:
        """The same, however long it takes to ask the provider. Raises LoginUnavailable too."""
        entry = self.check(credential, address)
        if entry is None:
            assert self._tokens is not None
            answered = await self._tokens.fetch()
            entry = self.check(credential, address)
            if entry is None and not answered:
                raise LoginUnavailable
        if entry is None:
            error = TokenRefused("no key of its provider has signed it")
            self._failed(address, credential, error)
            raise error
        return entry

    def review(self, entry: Entry) -> None:
        """Raises TokenExpired or KeyWithdrawn when the login is not good any more."""
        if entry.expires is not None and self._clock() >= entry.expires:
            raise TokenExpired
        if entry.key is not None and not self.keys.has(entry.key):
            raise KeyWithdrawn

    def _known(self, credential: str) -> Entry | None:
        found = self.keys.find(credential)
        if found is not None:
            return Entry(found.role, key=found.digest)
        if self._tokens is None or not looks_like_token(credential):
            raise LoginRefused
        claims = self._tokens.read(credential)
        return None if claims is None else Entry(claims.role, expires=claims.expires)

    def _failed(self, address: str, credential: str, error: ViewerError) -> None:
        if self._brake.failed(address, credential):
            log.info("[server] a login from %s is refused: %s", address or "?", error.code, extra={"event": "refused_login", "address": address})


def credential_in(authorization: str | None) -> str:
    """What stands in `Authorization: Bearer ...`. Raises LoginRequired when there is no such header."""
    if authorization is None or not authorization.lower().startswith(_BEARER):
        raise LoginRequired
    return authorization[len(_BEARER) :].strip()
