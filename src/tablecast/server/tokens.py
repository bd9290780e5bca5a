"""Tokens of an OpenID provider: signed by one of its keys, for this server, in time, and with a role."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from tablecast.login_errors import RoleMissing, TokenExpired, TokenRefused
from tablecast.server.key_set import KeySet
from tablecast.settings import OidcSettings
from tablecast.wire.messages import Role

VERIFIED = 1024
"""Tokens that were verified and are not verified again with each request."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
_REQUIRED = ["exp", "iss", "aud"]
_REASONS: Mapping[type[jwt.InvalidTokenError], str] = {
    jwt.InvalidAudienceError: "it is for another audience",
    jwt.InvalidIssuerError: "it is of another issuer",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidSignatureError: "its signature is not the provider's",
    jwt.InvalidAlgorithmError: "it is signed in a way that is not among server.oidc.algorithms",
    jwt.MissingRequiredClaimError: "it lacks one of the claims exp, iss and aud",
}


@dataclass(frozen=True)
class Claims:
    """What a good token says. `expires` is by time.time(), with the leeway."""

    role: Role
    expires: float


class Tokens:
    """Belongs to the event loop."""

    def __init__(self, settings: OidcSettings, keys: KeySet) -> None:
        self._settings = settings
        self._keys = keys
        self._verified: OrderedDict[str, tuple[int, Claims]] = OrderedDict()

    async def fetch(self) -> bool:
        """Asks the provider for its keys, if it was not asked a moment ago. Whether it has answered now."""
        return await self._keys.fetch()

    def read(self, token: str) -> Claims | None:
        """None if no known key has its id. Raises TokenRefused, TokenExpired, RoleMissing."""
        self._keys.keep_fresh()
        round, known = self._verified.get(token, (-1, None))
        if known is not None and round == self._keys.round:
            return known if not self._is_over(token, known) else _expired()
        key = self._key_of(token)
        if key is None:
            return None
        claims = self._verify(token, key)
        read = Claims(self._role(claims), float(claims["exp"]) + self._settings.leeway_seconds)
        self._remember(token, read)
        return read

    def _key_of(self, token: str) -> jwt.PyJWK | None:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError:
            raise TokenRefused("it is not a JSON Web Token") from None
        if header.get("alg") not in self._settings.algorithms:
            raise TokenRefused(_REASONS[jwt.InvalidAlgorithmError])
        kid = header.get("kid")
        return self._keys.find(kid if isinstance(kid, str) else None)

    def _verify(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        chosen = self._settings
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(chosen.algorithms),
                audience=chosen.audience,
                issuer=chosen.issuer,
                leeway=chosen.leeway_seconds,
                options={"require": _REQUIRED},
            )
        except jwt.ExpiredSignatureError:
            raise TokenExpired from None
        except jwt.PyJWTError as error:
            raise TokenRefused(next((why for kind, why in _REASONS.items() if isinstance(error, kind)), "it cannot be verified")) from None
        return claims

    def _role(self, claims: Mapping[str, Any]) -> Role:
        roles = _texts(_at(claims, self._settings.roles_claim))
        if roles & set(self._settings.operator_roles):
            return "operator"
        if roles & set(self._settings.viewer_roles):
            return "viewer"
        raise RoleMissing(self._settings.roles_claim)

    def _is_over(self, token: str, claims: Claims) -> bool:
        if self._keys.now() < claims.expires:
            return False
        del self._verified[token]
        return True

    def _remember(self, token: str, claims: Claims) -> None:
        self._verified[token] = (self._keys.round, claims)
        if len(self._verified) > VERIFIED:
            self._verified.popitem(last=False)


def looks_like_token(credential: str) -> bool:
    return _TOKEN.fullmatch(credential) is not None


def _expired() -> Claims:
    raise TokenExpired


def _at(claims: Mapping[str, Any], path: str) -> object:
    """The claim of that name, or else what the dots lead to: some providers have dots in a name."""
    if path in claims:
        return claims[path]
    found: object = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _texts(found: object) -> set[str]:
    if isinstance(found, str):
        return set(found.split())
    return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()
