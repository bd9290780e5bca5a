"""A Kafka with a listener for each way to secure one, and rights: the embedded broker's Java with a configuration of a test's own."""

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tablecast.jars import Jars
from tablecast.java import find_java
from tablecast.kafka.admin import wait_until_up
from tablecast.kafka.broker_files import HOST, PROPERTIES, choose_address, free_port, server_properties
from tablecast.kafka.broker_java import launch, run_kafka
from tablecast.kafka.broker_place import BrokerPlace
from tablecast.kafka.clients import make_admin
from tablecast.kafka.java_security import OAUTH_MODULE, PLAIN_MODULE, SCRAM_MODULE, jaas
from tablecast.kafka.java_settings import ALLOWED_URLS
from tablecast.settings import KafkaSettings
from tests.certificates import Authority, Certificate
from tests.token_server import TokenServer

PROTOCOLS = {"MUTUAL": "SSL", "PASSWORD": "SASL_SSL", "TOKEN": "SASL_SSL", "OUTDATED": "SSL"}
PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
WAYS = ("SSL", *PASSWORDS, "OAUTHBEARER")
USER, PASSWORD = "ann", 'p"a\\ss; wörd'
CLIENT, SECRET = "tables", 's3"cr\\et of tables'
PRINCIPALS = ("User:CN=tables", f"User:{USER}", f"User:{CLIENT}")
UP_SECONDS = 60.0
VALIDATOR = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
SCRAM = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}


class SecuredBroker:
    """`super` is a way in with every right; `client` are the ways of a user, who has the rights that were granted."""

    def __init__(self, folder: Path, jars: Jars, authority: Authority, tokens: TokenServer) -> None:
        folder.mkdir(parents=True)
        self.authority = authority
        self.tokens = tokens
        self.folder = folder
        self._jars = jars
        self._place = BrokerPlace(folder, folder / "logs")
        self._address = choose_address(folder, 0)
        self._ports = {name: free_port(but=0) for name in PROTOCOLS}
        self._certificate = authority.issue("broker")
        self._own = authority.issue("tables", password="of the key")
        self._process: subprocess.Popen[bytes] | None = None
        self._admin = make_admin(self._address.kafka, {})

    @property
    def super(self) -> KafkaSettings:
        return self._address.kafka

    def client(self, way: str, **other: str) -> KafkaSettings:
        """Settings that work, in librdkafka's names, with some of them made `other`: `_` stands for `.`."""
        trusting = {"ssl.ca.location": str(self.authority.certificate)}
        if way in ("SSL", "OUTDATED"):
            own = {"ssl.certificate.location": str(self._own.chain), "ssl.key.location": str(self._own.key), "ssl.key.password": "of the key"}
            made = {"bootstrap.servers": self.servers("MUTUAL" if way == "SSL" else way), "security.protocol": "SSL", **trusting, **own}
        elif way in PASSWORDS:
            login = {"sasl.mechanism": way, "sasl.username": USER, "sasl.password": PASSWORD}
            made = {"bootstrap.servers": self.servers("PASSWORD"), "security.protocol": "SASL_SSL", **trusting, **login}
        else:
            made = {"bootstrap.servers": self.servers("TOKEN"), "security.protocol": "SASL_SSL", **trusting, **self._oidc()}
        return KafkaSettings(made | {name.replace("_", "."): value for name, value in other.items()})

    def servers(self, listener: str) -> str:
        return f"{HOST}:{self._ports[listener]}"

    def _oidc(self) -> dict[str, str]:
        return {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.token.endpoint.url": self.tokens.token_endpoint,
            "sasl.oauthbearer.client.id": CLIENT,
            "sasl.oauthbearer.client.secret": SECRET,
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.extensions": "logicalCluster=lkc-1",
            "https.ca.location": str(self.authority.certificate),
        }

    def allow(self, operations: Sequence[AclOperation], topics: str, principals: Sequence[str] = PRINCIPALS) -> None:
        """On topics, and transactional ids, whose name begins so."""
        kinds = (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)
        acls = [
            AclBinding(kind, topics, ResourcePatternType.PREFIXED, principal, "*", operation, AclPermissionType.ALLOW)
            for kind in kinds
            for principal in principals
            for operation in operations
            if kind is ResourceType.TOPIC or operation in (AclOperation.WRITE, AclOperation.DESCRIBE)
        ]
        for future in self._admin.create_acls(acls, request_timeout=10).values():
            future.result(10)

    def renew(self, certificate: Certificate) -> None:
        """Gives the listener with the outdated certificate another one."""
        values = {"certificate.chain": certificate.chain.read_text(), "key": certificate.key.read_text()}
        entries = [
            ConfigEntry(f"listener.name.outdated.ssl.keystore.{name}", value, incremental_operation=AlterConfigOpType.SET)
            for name, value in values.items()
        ]
        resource = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=entries)
        for future in self._admin.incremental_alter_configs([resource], request_timeout=10).values():
            future.result(10)

    def start(self) -> None:
        self._place.prepare()
        lines = "".join(f"{name}={_escaped(str(value))}\n" for name, value in self._properties().items())
        (self.folder / PROPERTIES).write_text(lines)
        store = self.authority.java_store()
        allowed = f"-D{ALLOWED_URLS}={self.tokens.keys_url}"
        trust = (f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={Authority.STORE_PASSWORD}")
        options = ("-Xmx384m", allowed, *trust, *self._jars.archive_flags("kafka", None))
        self._process = launch(find_java(), self._jars, options, self._place, keep_open=())
        run_kafka(self._process, self._place, self._address.cluster)
        wait_until_up(self.super, UP_SECONDS, "secured", given_up=lambda: self._process is None or self._process.poll() is not None)
        credentials = [UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode()) for mechanism in SCRAM.values()]
        for credential in credentials:
            for future in self._admin.alter_user_scram_credentials([credential], request_timeout=10).values():
                future.result(10)

    def stop(self) -> None:
        process, self._process = self._process, None
        if process and process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _properties(self) -> Mapping[str, object]:
        plain = server_properties(self._address, 1_000_000)
        listeners = ",".join(f"{name}://{HOST}:{port}" for name, port in self._ports.items())
        mapped = ",".join(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items())
        outdated = self.authority.issue("outdated", expired=True)
        return {
            **plain,
            "listeners": f"{plain['listeners']},{listeners}",
            "advertised.listeners": f"{plain['advertised.listeners']},{listeners}",
            "listener.security.protocol.map": f"{plain['listener.security.protocol.map']},{mapped}",
            "authorizer.class.name": AUTHORIZER,
            "super.users": "User:ANONYMOUS",
            **self._tls("mutual", self._certificate, "required"),
            **self._tls("password", self._certificate, "none"),
            **self._tls("token", self._certificate, "none"),
            **self._tls("outdated", outdated, "none"),
            **self._password_listener(),
            **self._token_listener(),
        }

    def _tls(self, listener: str, certificate: Certificate, clients: str) -> dict[str, str]:
        given = {
            "keystore.type": "PEM",
            "keystore.certificate.chain": certificate.chain.read_text(),
            "keystore.key": certificate.key.read_text(),
            "truststore.type": "PEM",
            "truststore.certificates": self.authority.certificate.read_text(),
            "client.auth": clients,
        }
        return {f"listener.name.{listener}.ssl.{name}": value for name, value in given.items()}

    def _password_listener(self) -> dict[str, str]:
        prefix = "listener.name.password"
        return {
            f"{prefix}.sasl.enabled.mechanisms": ",".join(PASSWORDS),
            f"{prefix}.plain.sasl.jaas.config": jaas(PLAIN_MODULE, {f"user_{USER}": PASSWORD}),
            **{f"{prefix}.{mechanism.lower()}.sasl.jaas.config": jaas(SCRAM_MODULE, {}) for mechanism in SCRAM},
        }

    def _token_listener(self) -> dict[str, str]:
        prefix = "listener.name.token"
        return {
            f"{prefix}.sasl.enabled.mechanisms": "OAUTHBEARER",
            f"{prefix}.oauthbearer.sasl.jaas.config": jaas(OAUTH_MODULE, {}),
            f"{prefix}.oauthbearer.sasl.server.callback.handler.class": VALIDATOR,
            # Else a connection would outlive the token that opened it.
            f"{prefix}.oauthbearer.connections.max.reauth.ms": "600000",
            "sasl.oauthbearer.jwks.endpoint.url": self.tokens.keys_url,
            "sasl.oauthbearer.expected.audience": self.tokens.audience,
            "sasl.oauthbearer.expected.issuer": self.tokens.issuer,
            "sasl.oauthbearer.clock.skew.seconds": "1",
        }


def _escaped(value: str) -> str:
    """As Java reads a file of properties: in ISO 8859-1."""
    plain = value.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in plain)
