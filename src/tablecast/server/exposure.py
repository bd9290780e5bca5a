"""What a server must have before others can reach it: a way to log in, and TLS."""

import socket

from tablecast.errors import ConfigurationError, Problem
from tablecast.settings import ServerSettings, is_loopback


def check_exposure(settings: ServerSettings) -> None:
    """Raises ConfigurationError. Without a key no server starts, wherever it listens; without TLS only one that nobody else reaches."""
    problems = []
    if settings.psk is None and settings.operator_psk is None and settings.oidc is None:
        expected = "a key of at least 8 characters, best given as TABLECAST_SERVER_PSK, or server.oidc"
        problems.append(Problem("server.psk", "needed by the server", "nothing", expected))
    if settings.tls_certificate is None and not settings.insecure and not _only_here(settings.host):
        expected = (
            "server.tls_certificate beside an address that others can reach, 127.0.0.1, or server.insecure = true where something in front "
            "of the server speaks TLS"
        )
        problems.append(Problem("server.host", "needs TLS", repr(settings.host), expected))
    if problems:
        raise ConfigurationError(problems)


def _only_here(host: str) -> bool:
    """As the name is resolved, since it is that address that is listened on."""
    try:
        place = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][4]
    except OSError:
        # Listening will say what is wrong with it.
        return is_loopback(host)
    return is_loopback(str(place[0]).partition("%")[0])
