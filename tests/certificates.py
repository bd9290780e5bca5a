"""An authority of a test's own, and the certificates that it issues."""

import datetime as dt
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOOPBACK = "127.0.0.1"
DAY = dt.timedelta(days=1)
BOTH_ENDS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])


@dataclass(frozen=True)
class Certificate:
    """PEM files of a certificate and its key (PKCS#8)."""

    chain: Path
    key: Path


class Authority:
    """Signs certificates, each in files of its own in `folder`."""

    STORE_PASSWORD = "changeit"

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        made = _certificate(self._name, self._name, self._key, dt.datetime.now(dt.UTC) + 30 * DAY)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))

    def java_store(self) -> Path:
        """A trust store for Java's own TLS that holds this authority."""
        store = self._folder / "trust.p12"
        trusted = pkcs12.PKCS12Certificate(x509.load_pem_x509_certificate(self.certificate.read_bytes()), b"authority")
        store.write_bytes(pkcs12.serialize_java_truststore([trusted], serialization.BestAvailableEncryption(self.STORE_PASSWORD.encode())))
        return store

    def issue(self, name: str, host: str = LOOPBACK, expired: bool = False, password: str = "") -> Certificate:
        """For both ends of a connection to `host`, with the common name `name`. An expired one was valid until yesterday."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(_named(name), self._name, key, dt.datetime.now(dt.UTC) + (-DAY if expired else DAY))
        made = made.add_extension(x509.SubjectAlternativeName([_alternative(host)]), critical=False).add_extension(BOTH_ENDS, critical=False)
        issued = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}-key.pem")
        issued.chain.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))
        hidden = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
        issued.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden))
        return issued


def name_shown(url: str, context: ssl.SSLContext) -> str:
    """The common name of the certificate that a new connection to a server is shown."""
    place = urlsplit(url)
    with (
        socket.create_connection((place.hostname or "", place.port or 0), 10) as wire,
        context.wrap_socket(wire, server_hostname=place.hostname) as tls,
    ):
        shown = tls.getpeercert(binary_form=True)
    assert shown is not None
    return str(x509.load_der_x509_certificate(shown).subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, end: dt.datetime) -> x509.CertificateBuilder:
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    return made.serial_number(x509.random_serial_number()).not_valid_before(dt.datetime.now(dt.UTC) - 10 * DAY).not_valid_after(end)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
