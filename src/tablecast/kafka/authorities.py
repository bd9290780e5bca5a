"""Whom this system trusts, as a file.

librdkafka asks a token endpoint by the curl inside its wheel, which knows the place of one family of systems only, and nothing of `probe`.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SETTING = "https.ca.location"
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def system_authorities() -> str | None:
    """The file of SSL_CERT_FILE or of Python's own OpenSSL, else where systems usually have it."""
    found = (place for place in (ssl.get_default_verify_paths().cafile, *PLACES) if place and Path(place).is_file())
    return next(found, None)


def endpoint_authorities(config: Mapping[str, Any]) -> dict[str, str]:
    """What a client that asks a token endpoint must be told besides its settings, if these name no authority for it."""
    if config.get("sasl.oauthbearer.method") != "oidc" or config.get("https.ca.pem") or config.get(SETTING) not in (None, "", "probe"):
        return {}
    place = system_authorities()
    return {SETTING: place} if place else {}
