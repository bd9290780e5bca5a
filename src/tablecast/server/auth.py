"""The pre-shared key of viewers."""

import hmac

from pydantic import SecretStr

from tablecast.errors import LoginRefused, LoginRequired

_BEARER = "bearer "


class Gate:
    """Lets in who has the key. How long a comparison takes says nothing about the key, and neither does the repr."""

    def __init__(self, key: SecretStr) -> None:
        self._key = key.get_secret_value().encode()

    def check(self, key: str) -> None:
        """Raises LoginRefused."""
        if not hmac.compare_digest(key.encode("utf-8", "surrogatepass"), self._key):
            raise LoginRefused

    def check_header(self, authorization: str | None) -> None:
        """The same for `Authorization: Bearer <key>`. Raises LoginRequired when there is no such header."""
        if authorization is None or not authorization.lower().startswith(_BEARER):
            raise LoginRequired
        self.check(authorization[len(_BEARER) :].strip())
