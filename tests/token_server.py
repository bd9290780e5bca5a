"""An OpenID provider of a test's own, on 127.0.0.1: discovery, signing keys that can be rotated, client credentials, and faults on demand."""

import base64
import json
import secrets
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tablecast.kafka.broker_files import free_port
from tests.certificates import Certificate

HOST = "127.0.0.1"
POLL_SECONDS = 0.02


class SigningKey:
    """RS256, under an id of its own."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(4)
        self._key = rsa.generate_private_key(65537, 2048)

    def sign(self, claims: Mapping[str, Any]) -> str:
        head = {"alg": "RS256", "typ": "JWT", "kid": self.id}
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{_base64(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def public(self) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.id, "n": _number(numbers.n), "e": _number(numbers.e)}


@dataclass(frozen=True)
class Asked:
    """A request for a token, by which program, and whether it was granted one."""

    client: str
    scope: str
    agent: str
    granted: bool


class TokenServer:
    """`clients` are ids and their secrets. They, `lifetime` and `audience` may be changed while it runs, for tokens that are made from then on."""

    def __init__(self, clients: Mapping[str, str] | None = None, lifetime: float = 3600, certificate: Certificate | None = None) -> None:
        self.clients = dict(clients or {})
        self.lifetime = lifetime
        self.audience = "tablecast"
        self.asked: list[Asked] = []
        self.issued: list[str] = []
        self.keys_read = 0
        self._keys = [SigningKey()]
        self._context = _context(certificate) if certificate else None
        # Not one that the system hands out to clients: it must be free again after `unreachable`.
        self._port = free_port(but=0)
        self._server: ThreadingHTTPServer | None = None

    @property
    def issuer(self) -> str:
        return f"{'https' if self._context else 'http'}://{HOST}:{self._port}"

    @property
    def token_endpoint(self) -> str:
        return f"{self.issuer}/token"

    @property
    def keys_url(self) -> str:
        return f"{self.issuer}/jwks"

    def token(self, subject: str, lifetime: float | None = None, **claims: Any) -> str:
        """A signed token with any further `claims`; these win over the usual ones, and one that is None is left out."""
        now = time.time()
        end = now + (self.lifetime if lifetime is None else lifetime)
        usual = {"iss": self.issuer, "aud": self.audience, "sub": subject, "iat": int(now), "exp": int(end), "jti": secrets.token_hex(8)}
        self.issued.append(self._keys[-1].sign({name: value for name, value in {**usual, **claims}.items() if value is not None}))
        return self.issued[-1]

    def rotate(self, forget: bool = False) -> None:
        """Signs with a new key from now on. The older ones are still published, unless they shall be forgotten."""
        self._keys = [*([] if forget else self._keys), SigningKey()]

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        """Nobody listens at its port meanwhile."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def start(self) -> None:
        self._server = _Listener((HOST, self._port), _handler(self), self._context)
        threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), name="token-server", daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def published(self, path: str) -> dict[str, Any] | None:
        if path == "/jwks":
            self.keys_read += 1
            return {"keys": [key.public() for key in self._keys]}
        if path == "/.well-known/openid-configuration":
            told = {"issuer": self.issuer, "token_endpoint": self.token_endpoint, "jwks_uri": self.keys_url}
            return {**told, "grant_types_supported": ["client_credentials"], "id_token_signing_alg_values_supported": ["RS256"]}
        return None

    def granted(self, client: str, secret: str, form: Mapping[str, str], agent: str) -> tuple[int, dict[str, Any]]:
        """The answer to a client that asks for a token with its credentials."""
        known = form.get("grant_type") == "client_credentials" and self.clients.get(client) == secret
        scope = form.get("scope", "")
        self.asked.append(Asked(client, scope, agent, known))
        if not known:
            return 401, {"error": "invalid_client", "error_description": "the client is not known, or its secret is another"}
        token = self.token(client, scope=scope or None)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": int(self.lifetime), "scope": scope}


class _Listener(ThreadingHTTPServer):
    """Greets over TLS in the thread of the connection: one that says nothing holds up no other."""

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None) -> None:
        super().__init__(address, handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a client that goes away, or trusts nobody, is a test's own doing."""


def _handler(server: TokenServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0

        def do_GET(self) -> None:
            found = server.published(self.path)
            self._answer(404 if found is None else 200, found or {"error": "not_found"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            if self.path != "/token":
                self._answer(404, {"error": "not_found"})
                return
            form = {name: values[0] for name, values in parse_qs(body).items()}
            credentials = _credentials(self.headers.get("Authorization", ""), form)
            self._answer(*server.granted(*credentials, form, self.headers.get("User-Agent", "")))

        def _answer(self, status: int, content: Mapping[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: a test's output is its own."""

    return Handler


def _credentials(authorization: str, form: Mapping[str, str]) -> tuple[str, str]:
    """In the header or in the form, as the client likes."""
    if authorization.startswith("Basic "):
        client, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        return client, secret
    return form.get("client_id", ""), form.get("client_secret", "")


def _context(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    return context


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _number(value: int) -> str:
    return _base64(value.to_bytes((value.bit_length() + 7) // 8, "big"))
