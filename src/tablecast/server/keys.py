"""The pre-shared keys: which role each gives, and new ones without a restart."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from tablecast.secret_files import read_secret
from tablecast.settings import KEY_LENGTH, ServerSettings, keys_in
from tablecast.wire.messages import Role

PSK, OPERATOR_PSK = "server.psk", "server.operator_psk"


@dataclass(frozen=True)
class Found:
    """A key that is good, as its digest."""

    digest: bytes
    role: Role


class Keys:
    """How long a comparison takes says nothing about a key: all are compared, as digests of one length. Nor does the repr."""

    def __init__(self, psk: SecretStr | None = None, operator_psk: SecretStr | None = None) -> None:
        self._good = _digests(psk, operator_psk)

    def find(self, credential: str) -> Found | None:
        digest = _digest(credential)
        matches = [Found(good, role) for good, role in self._good.items() if hmac.compare_digest(digest, good)]
        return matches[0] if matches else None

    def has(self, digest: bytes) -> bool:
        """Whether a key that was found is still good."""
        return digest in self._good

    def take(self, psk: SecretStr | None, operator_psk: SecretStr | None) -> None:
        """From now on these are good, and no others."""
        self._good = _digests(psk, operator_psk)

    def __len__(self) -> int:
        return len(self._good)


class KeyFiles:
    """The keys of a running server whose settings name files for them."""

    def __init__(self, settings: ServerSettings, files: Mapping[str, Path]) -> None:
        self.paths = tuple(files[name] for name in (PSK, OPERATOR_PSK) if name in files)
        self._settings = settings
        self._files = files

    def read(self) -> tuple[SecretStr | None, SecretStr | None]:
        """Both settings as they are now. Raises ValueError when one is none, and never says what stands in it."""
        psk, operator_psk = self._read(PSK, self._settings.psk), self._read(OPERATOR_PSK, self._settings.operator_psk)
        if set(keys_in(psk)) & set(keys_in(operator_psk)):
            raise ValueError(f"a key stands in {PSK} and in {OPERATOR_PSK}")
        return psk, operator_psk

    def _read(self, name: str, given: SecretStr | None) -> SecretStr | None:
        if name not in self._files:
            return given
        secret = SecretStr(read_secret(self._files[name]))
        if min(map(len, keys_in(secret)), default=0) < KEY_LENGTH:
            raise ValueError(f"a key in {self._files[name]} has less than {KEY_LENGTH} characters")
        return secret


def _digests(psk: SecretStr | None, operator_psk: SecretStr | None) -> dict[bytes, Role]:
    """A single setting makes operators, as long as these have no key of their own."""
    role: Role = "operator" if operator_psk is None else "viewer"
    return {**{_digest(key): role for key in keys_in(psk)}, **{_digest(key): "operator" for key in keys_in(operator_psk)}}


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
