"""Raw bytes to the socket of a real server: HTTP requests, handshakes and frames that are nearly right."""

import socket
from random import Random
from urllib.parse import urlsplit

from bench.wire_client import masked
from tests.unit.server.talking import KEY

from . import corpus
from .inputs import damaged, made_by, mutated
from .targets import Target

PATIENCE_SECONDS = 20.0
LARGEST = 1 << 20
HTTP = tuple(request.replace(b"KEY", KEY.encode()) for request in corpus.HTTP)
OPCODES = (0, 1, 1, 1, 1, 2, 3, 8, 9, 10)


def request(random: Random) -> bytes:
    given = random.choice(HTTP)
    return damaged(random, given) if random.randrange(4) else given


def conversation(random: Random) -> bytes:
    """A handshake, a login, and frames behind them."""
    said = [masked(1, mutated(random, corpus.VIEWER_MESSAGES)) for _ in range(random.randrange(4))]
    login = masked(1, b'{"type":"login","key":"%s"}' % KEY.encode())
    frames = [login, *said] if random.random() < 0.5 else said
    data = b"".join([corpus.UPGRADE, *frames, masked(random.choice(OPCODES), random.randbytes(random.randrange(130)))])
    return damaged(random, data) if random.randrange(3) == 0 else data


def raw_bytes(url: str) -> Target:
    """Whatever comes, the server answers or hangs up, in time."""
    place = urlsplit(url)
    address = (place.hostname or "", place.port or 0)

    def take(data: bytes) -> None:
        with socket.create_connection(address, PATIENCE_SECONDS) as wire:
            try:
                wire.sendall(data)
                wire.shutdown(socket.SHUT_WR)
                heard = 0
                while part := wire.recv(65_536):
                    heard += len(part)
            except (ConnectionResetError, BrokenPipeError):
                return
        assert heard < LARGEST

    return Target(made_by(lambda random: random.choice((request, conversation))(random)), take)
