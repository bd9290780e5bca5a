"""Finds out what is wrong with a broker's certificate: librdkafka only says that it could not be verified."""

import socket
import ssl

from tablecast.settings import KafkaSettings

PROBE_SECONDS = 2.0


def certificate_flaw(kafka: KafkaSettings) -> str:
    """What a TLS greeting with the first of the servers shows, as in "certificate has expired"; nothing if that is not the trouble."""
    host, _, port = kafka.servers.partition(",")[0].rpartition(":")
    try:
        location = kafka.root.get("ssl.ca.location", "probe")
        context = ssl.create_default_context(cafile=None if location in ("", "probe") else location, cadata=kafka.root.get("ssl.ca.pem"))
        context.check_hostname = kafka.root.get("ssl.endpoint.identification.algorithm") != "none"
        with socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS) as plain, context.wrap_socket(plain, server_hostname=host):
            return ""
    except ssl.SSLCertVerificationError as error:
        return f"the broker's certificate is not accepted, {error.verify_message.rstrip('.')}"
    except (OSError, ValueError):
        return ""
