"""Keys, certificates and login lines as Java's Kafka client wants them.

Certificates and keys are read here and handed over as text: an executor on another machine has no such file.
"""

from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from tablecast.errors import UntranslatableSetting

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def jaas(module: str, options: Mapping[str, str]) -> str:
    """A login line. Values are quoted as Java's StreamTokenizer reads them."""
    return " ".join([module, "required", *(f'{name}="{_escaped(value)}"' for name, value in options.items())]) + ";"


def _escaped(value: str) -> str:
    return "".join(ESCAPES.get(char) or (char if char >= " " else f"\\{ord(char):03o}") for char in value)


def password_jaas(mechanism: str, given: Mapping[str, str]) -> str:
    for name in ("sasl.username", "sasl.password"):
        if name not in given:
            raise UntranslatableSetting(name, f"{mechanism} needs it")
    module = PLAIN_MODULE if mechanism == "PLAIN" else SCRAM_MODULE
    return jaas(module, {"username": given["sasl.username"], "password": given["sasl.password"]})


def oidc_jaas(given: Mapping[str, str]) -> str:
    options = {"clientId": _either(given, "client.id"), "clientSecret": _either(given, "client.secret")}
    if "sasl.oauthbearer.scope" in given:
        options["scope"] = given["sasl.oauthbearer.scope"]
    for extension in filter(None, given.get("sasl.oauthbearer.extensions", "").split(",")):
        name, _, value = extension.partition("=")
        options[f"extension_{name.strip()}"] = value.strip()
    return jaas(OAUTH_MODULE, options | truststore(given, "https.ca"))


def _either(given: Mapping[str, str], ending: str) -> str:
    """librdkafka has an older and a newer name for the client's id and secret."""
    old, new = f"sasl.oauthbearer.{ending}", f"sasl.oauthbearer.client.credentials.{ending}"
    if old not in given and new not in given:
        raise UntranslatableSetting(old, "oidc needs it")
    return given.get(new) or given[old]


def truststore(given: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The authorities of `prefix`.pem or `prefix`.location; nothing if Java's own shall do."""
    location = f"{prefix}.location"
    certificates = given.get(f"{prefix}.pem")
    if certificates is None and given.get(location, "probe") != "probe":
        certificates = _read(location, given[location])
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates} if certificates else {}


def keystore(given: Mapping[str, str]) -> dict[str, str]:
    """The client's own certificate and key, if it has one."""
    if "ssl.keystore.location" in given:
        store = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": given["ssl.keystore.location"]}
        return store | ({"ssl.keystore.password": given["ssl.keystore.password"]} if "ssl.keystore.password" in given else {})
    chain, key = _text(given, "ssl.certificate"), _text(given, "ssl.key")
    if chain is None and key is None:
        return {}
    if chain is None or key is None:
        missing = "ssl.certificate.location" if chain is None else "ssl.key.location"
        raise UntranslatableSetting(missing, "a client certificate and its key come together")
    return {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": chain, "ssl.keystore.key": _plain(key, given)}


def _plain(key: str, given: Mapping[str, str]) -> str:
    """The key as PKCS#8 and without its password. Java takes no other form, and before 19 cannot open what OpenSSL encrypts."""
    name = "ssl.key.location" if "ssl.key.location" in given else "ssl.key.pem"
    password = given.get("ssl.key.password") if "ENCRYPTED" in key else None
    try:
        opened = load_pem_private_key(key.encode(), password.encode() if password else None)
    except TypeError:
        raise UntranslatableSetting("ssl.key.password", "the key is encrypted") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UntranslatableSetting(name, "there is no private key in PEM that ssl.key.password opens") from None
    return opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _text(given: Mapping[str, str], prefix: str) -> str | None:
    location = f"{prefix}.location"
    return given.get(f"{prefix}.pem") or (_read(location, given[location]) if location in given else None)


def _read(name: str, location: str) -> str:
    path = Path(location)
    if path.is_dir():
        raise UntranslatableSetting(name, f"{location} is a folder; give one file with all certificates")
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UntranslatableSetting(name, f"{location} cannot be read ({error.__class__.__name__})") from error
