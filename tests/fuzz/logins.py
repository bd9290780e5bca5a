"""Keys and tokens that are nearly right, as a stranger sends them, and tokens with odd claims that the provider itself has signed."""

import base64
import time
from random import Random
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import SecretStr

from tablecast.errors import ViewerError
from tablecast.server.auth import Gate, credential_in
from tablecast.server.brake import Brake
from tablecast.server.key_set import KeySet
from tablecast.server.keys import Keys
from tablecast.server.tokens import Tokens
from tablecast.settings import OidcSettings
from tests.unit.server.talking import KEY

from .inputs import damaged, made_by, mutated
from .targets import Target, refusing

SETTINGS = OidcSettings.model_validate({"issuer": "https://login.example", "audience": "tablecast", "roles_claim": "realm_access.roles"})
HEADS: tuple[dict[str, Any], ...] = (
    {"alg": "RS256", "typ": "JWT", "kid": "one"},
    {"alg": "none", "kid": None, "crit": ["exp"], "b64": False},
    {"alg": "HS256", "kid": "one", "jwk": {"kty": "oct", "k": "AA"}},
)
CLAIMS: tuple[dict[str, Any], ...] = tuple(
    {"iss": SETTINGS.issuer, "aud": aud, "exp": exp, "iat": 1, "nbf": 1, "sub": "zoe", "realm_access": {"roles": ["viewer"]}}
    for aud, exp in (("tablecast", int(time.time()) + 10**6), (["other", "tablecast"], 1))
)
HEADERS = (f"Bearer {KEY}", "bearer {}", "Bearer", "Basic {}", "Bearer  {} ", "BEARER {}\t")


class Signer:
    """A provider with one key, which signs whatever it is given."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)

    def keys(self) -> list[dict[str, Any]]:
        return [{**RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True), "kid": "one", "alg": "RS256", "use": "sig"}]

    def token(self, random: Random) -> bytes:
        signed = b".".join(_base64(part) for part in (mutated(random, HEADS), mutated(random, CLAIMS)))
        good = random.random() < 0.5
        signature = self._key.sign(signed, padding.PKCS1v15(), hashes.SHA256()) if good else random.randbytes(256)
        token = signed + b"." + _base64(signature)
        return damaged(random, token) if random.randrange(5) == 0 else token


def _base64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


async def logins() -> Target:
    """Whoever comes is let in with a role, is to be asked about, or is refused."""
    signer = Signer()
    keys = KeySet(signer.keys)
    assert await keys.fetch()
    # Of few addresses, which may be wrong as often as they like: what the brake remembers has its bounds, and they are not reached here.
    gate = Gate(Keys(SecretStr(KEY)), Tokens(SETTINGS, keys), Brake(burst=1 << 40))

    def take(given: tuple[str, str]) -> None:
        header, address = given
        with refusing(ViewerError):
            entry = gate.check(credential_in(header), address)
            assert entry is None or entry.role in ("viewer", "operator")

    def login(random: Random) -> tuple[str, str]:
        header = random.choice(HEADERS).format(signer.token(random).decode("latin-1"))
        return header, f"10.0.0.{random.randrange(16)}"

    return Target(made_by(login), take)
