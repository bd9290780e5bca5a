"""The server's certificate: loaded at the start, and loaded again when its files change, without dropping anybody."""

import ssl
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from tablecast.errors import ConfigurationError, Problem


class Certificate:
    """`context` is for all connections that begin from now on; those that are there keep what they agreed on."""

    def __init__(self, chain: Path, key: Path | None) -> None:
        """Raises ConfigurationError."""
        self.paths = (chain, *([key] if key is not None else []))
        self._chain = chain
        self._key = key
        try:
            self.context = self.read()
        except (OSError, ValueError) as error:
            expected = "PEM files of a certificate and of its own key, without a password"
            raise ConfigurationError([Problem("server.tls_certificate", str(chain), str(error), expected)]) from error

    @property
    def expires(self) -> datetime:
        return x509.load_pem_x509_certificate(self._chain.read_bytes()).not_valid_after_utc

    def read(self) -> ssl.SSLContext:
        """A context with what the files hold now. Raises OSError or ValueError, and changes nothing."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.load_cert_chain(self._chain, self._key, password=_none)
        if self.expires < datetime.now(UTC):
            raise ValueError(f"{self._chain} was valid until {self.expires:%Y-%m-%d %H:%M} UTC")
        return context

    def take(self, context: ssl.SSLContext) -> None:
        """In place of the one before, which is not touched: files replaced one after another would leave it with a certificate and no key."""
        self.context = context


def _none() -> str:
    """A key with a password would be asked for at the terminal."""
    return ""
