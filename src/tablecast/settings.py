"""Every setting, in one typed model. How files, environment and command line become one: configuration.py."""

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    RootModel,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from tablecast.catalog import ColumnType

SECRET_ENDINGS = ("password", "passphrase", "secret", "key.pem", "keystore.pem", "keystore.key", "oauthbearer.config", "jaas.config")
SPARK_SECTION = "pipeline.spark."
SPARK_SECRETS = re.compile(r"(?i)secret|password|passphrase|token|credential|access[.]?key")
MASK = "***"
KEY_LENGTH = 8
"""Characters that a pre-shared key has at the least."""


def is_secret(key: str) -> bool:
    """Whether the value of this setting must never be printed."""
    if key.startswith(SPARK_SECTION):
        return SPARK_SECRETS.search(key) is not None
    return key.endswith((*SECRET_ENDINGS, "psk"))


def _duration(text: str) -> str:
    amount, _, unit = text.partition(" ")
    if not amount.isdigit() or int(amount) < 1 or unit.rstrip("s") not in SECONDS:
        raise ValueError("a whole number and a unit, as in '5 minutes' (second, minute, hour, day)")
    return text


def _safe_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or (parts.scheme == "http" and not is_loopback(parts.hostname)):
        raise ValueError("an address that begins with https://; http:// only on this machine")
    return text


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it, as far as the name says."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def keys_in(secret: SecretStr | None) -> tuple[str, ...]:
    """The keys of a setting: one a line, so that two are good while one is replaced by the other."""
    text = secret.get_secret_value() if secret is not None else ""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
Duration = Annotated[str, AfterValidator(_duration)]
Port = Annotated[int, Field(ge=0, le=65535)]
Url = Annotated[str, AfterValidator(_safe_url)]
Origin = Annotated[str, Field(pattern=r"^https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?$")]
Ancestor = Annotated[str, Field(pattern=r"^(self|https?://(\*\.)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?)$")]
Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures with a private key alone: one that the public key could make is not among them."""


def seconds(duration: str) -> int:
    amount, _, unit = duration.partition(" ")
    return int(amount) * SECONDS[unit.rstrip("s")]


Model = TypeVar("Model", bound=BaseModel)


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class KafkaSettings(RootModel[dict[str, str]]):
    """Client settings in librdkafka's names. Its repr masks secrets."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, hide_input_in_errors=True)

    @property
    def servers(self) -> str:
        return self.root.get("bootstrap.servers", "")

    def masked(self) -> dict[str, str]:
        return {name: MASK if is_secret(name) else value for name, value in self.root.items()}

    def __repr__(self) -> str:
        return f"KafkaSettings({self.masked()})"

    __str__ = __repr__


class ChangelogSettings(Section):
    """Where changelogs, status and our own control topic live."""

    kafka: KafkaSettings | None = Field(None, description="The Kafka for changelogs, in librdkafka's names. Absent: the embedded broker.")
    prefix: str = Field("tablecast", pattern=r"^[A-Za-z0-9._-]{1,80}$", description="What the names of our topics begin with.")
    replication: int = Field(1, ge=1, description="Copies of each of our topics.")


class BrokerSettings(Section):
    """The embedded Kafka."""

    port: Port = Field(0, description="Its port on 127.0.0.1. 0: a free one, chosen at the first start and kept.")
    heap_mb: int = Field(512, ge=128, description="Memory of its Java process, in MiB.")


class PipelineSettings(Section):
    """What Spark does."""

    master: str = Field("auto", description='Spark master. "auto": local, with as many task slots as the generations need.')
    trigger: Literal["realtime", "microbatch"] = Field(
        "realtime", description='How Spark runs the queries: in Real-Time Mode, or "microbatch", which needs the extra of that name.'
    )
    checkpoint_interval: Duration = Field("5 minutes", description="How long a real-time batch lasts; after a crash at most this much is read again.")
    twin: bool = Field(False, description="Two staggered queries write the same rows, which hides the pause between batches.")
    history: int = Field(64, ge=1, le=100_000, description="Rows of a key and side that a later record can still change.")
    starting_offsets: Literal["earliest", "latest"] = Field("earliest", description="Where a source without a checkpoint is read from.")
    linger_seconds: float = Field(20, ge=0, description="How long an old generation stays after a new one went live.")
    row_bytes: int = Field(1_000_000, ge=1024, le=200_000_000, description="An encoded row over this size is a dead letter.")
    state_dir: Path = Field(Path(".tablecast"), description="Checkpoints, the embedded broker's data, logs.")
    checkpoint_dir: str | None = Field(
        None,
        min_length=1,
        description="Checkpoints, if not in state_dir: a folder, or any path that Spark's Hadoop can write, as in hdfs://name/folder.",
    )
    jars: Path | None = Field(None, description="A folder with spark/ and kafka/ that hold the jars. Absent: fetched into state_dir/jars.")
    ivy_settings: Path | None = Field(None, description="An Ivy settings file, for a mirror of Maven Central.")
    driver_memory_mb: int = Field(2048, ge=512, description="Memory of Spark's local Java process, in MiB.")
    niceness: int = Field(
        5,
        ge=0,
        le=19,
        description="How much Spark gives way to the server and the broker beside it, where run or demo starts them on one machine with few cores.",
    )
    spark: dict[str, str] = Field(default_factory=dict, repr=False, description="Further Spark settings, as in spark-defaults.conf.")

    @field_validator("twin")
    @classmethod
    def _only_in_real_time(cls, twin: bool, info: ValidationInfo) -> bool:
        if twin and info.data.get("trigger") == "microbatch":
            raise ValueError(
                'false, or pipeline.trigger = "realtime": a twin hides the pause between real-time batches, which micro-batches do not have'
            )
        return twin


class ControlSettings(Section):
    """The control topic."""

    topic: str = Field("tablecast.control", min_length=1, description="Carries the messages that swap topics and joins.")
    joins: tuple[str, ...] = Field(("final_ui",), description="The tables whose join the message's joinType changes.")
    fill_limit_seconds: float = Field(
        3600,
        gt=0,
        description="A generation that a message asks for and that is not ready by then has failed; the one before it stays live. "
        "One that the configuration asks for, or that replaces one that cannot go on, has no limit: there is nothing to keep instead.",
    )


class OidcSettings(Section):
    """Tokens of an OpenID provider: the second way in."""

    issuer: Url = Field(description="The provider, as its tokens name it in `iss`. Its signing keys are found at /.well-known/openid-configuration.")
    audience: str = Field(min_length=1, description="What tokens for this server have in `aud`.")
    jwks_url: Url | None = Field(None, description="Where the signing keys are, for a provider without discovery.")
    algorithms: tuple[Algorithm, ...] = Field(
        ("RS256", "ES256"), description="The signatures that are taken; none that is made with a shared secret."
    )
    leeway_seconds: float = Field(30, ge=0, le=300, description="How far the clocks of provider and server may differ.")
    roles_claim: str = Field(
        "roles",
        min_length=1,
        description="The claim that has the roles: a list, or text with spaces between. A path with dots goes into objects: realm_access.roles.",
    )
    viewer_roles: tuple[str, ...] = Field(("viewer",), description="The values of that claim that make a viewer.")
    operator_roles: tuple[str, ...] = Field(("operator",), description="The values of that claim that make an operator.")
    ca: Path | None = Field(None, description="The certificates that the provider's is checked against. Absent: those of the system.")


class ServerSettings(Section):
    """The table server."""

    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: Port = Field(10000, description="The port to listen on. 0: any free one.")
    psk: SecretStr | None = Field(
        None,
        description="The pre-shared key of viewers, and of operators too unless these have their own. Several, one a line: each of them is good.",
    )
    operator_psk: SecretStr | None = Field(
        None, description="The pre-shared key of operators, in the same form. With it, psk makes a viewer, who may not swap."
    )
    oidc: OidcSettings | None = Field(None, description="Tokens of an OpenID provider.")
    tls_certificate: Path | None = Field(
        None, description="The certificate with its chain, as PEM: the server speaks TLS. Taken anew when the file changes."
    )
    tls_key: Path | None = Field(None, description="The private key of the certificate, as PEM. Absent: it is in the same file.")
    insecure: bool = Field(
        False, description="Listen on an address that others reach without TLS: only where something in front of the server does it."
    )
    origins: tuple[Origin, ...] = Field((), description="Other origins whose pages may use this server, as in https://portal.example.")
    frame_ancestors: tuple[Ancestor, ...] = Field((), description='Who may show the page in a frame: "self", or origins.')
    page_servers: tuple[Origin, ...] = Field((), description="Other table servers that people may log in at from this server's page.")
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        (), description="Proxies in front of the server, whose X-Forwarded-For is believed: addresses or networks."
    )
    strangers: int = Field(500, ge=1, description="Connections at once of one address that have not logged in.")
    window_rows: int = Field(5000, ge=1, le=100_000, description="The largest window that a viewer may ask for.")
    sessions: int = Field(2000, ge=1, description="Viewers at once.")
    subscriptions: int = Field(64, ge=1, description="Subscriptions of one viewer.")
    views: int = Field(256, ge=1, description="Sorted, filtered, searched or grouped views at once, of all viewers together.")
    viewer_views: int = Field(16, ge=1, description="Different sorted, filtered, searched or grouped views of one viewer.")
    view_groups: int = Field(100_000, ge=1, description="Groups of one grouped view.")
    message_bytes: int = Field(65_536, ge=1024, description="The largest message of a viewer.")
    messages_per_second: int = Field(200, ge=1, description="Messages of one viewer within a second.")
    login_seconds: float = Field(10, gt=0, description="How long a new connection may take to log in.")
    exports: int = Field(2, ge=1, description="Exports at once.")
    stalled_seconds: float = Field(30, gt=0, description="How long a viewer may take nothing of what is sent to it before it is closed.")

    @property
    def scheme(self) -> Literal["http", "https"]:
        return "http" if self.tls_certificate is None else "https"

    @field_validator("psk", "operator_psk")
    @classmethod
    def _long_enough(cls, psk: SecretStr | None) -> SecretStr | None:
        if psk is not None and min(map(len, keys_in(psk)), default=0) < KEY_LENGTH:
            raise ValueError(f"a key of {KEY_LENGTH} characters or more")
        return psk

    @field_validator("operator_psk")
    @classmethod
    def _another(cls, operator_psk: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if set(keys_in(operator_psk)) & set(keys_in(info.data.get("psk"))):
            raise ValueError("a key that is not among those of server.psk: it would make both a viewer and an operator")
        return operator_psk

    @field_validator("tls_key")
    @classmethod
    def _with_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if key is not None and info.data.get("tls_certificate") is None:
            raise ValueError("server.tls_certificate beside it")
        return key


class LogSettings(Section):
    """What the programs say on standard output."""

    format: Literal["text", "json"] = Field(
        "text", description="Lines for people, or one JSON object a line: time, level, logger, message, error, and the fields of the event."
    )


class DemoSettings(Section):
    """The sample data of tablecast demo."""

    rate: float = Field(20, gt=0, le=100_000, description="Messages a second, users and accounts together.")
    keys: int = Field(500, ge=1, le=10_000_000, description="How many different users there are.")
    seed: int = Field(7, description="The same seed gives the same people.")


class FieldSettings(Section):
    """A column of a source. A plain type stands for a column that needs no more."""

    type: ColumnType
    path: str | None = Field(None, pattern=r"^[^.]+(\.[^.]+)*$")
    required: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_type(cls, given: object) -> object:
        return {"type": given} if isinstance(given, str) else given


class SourceSettings(Section):
    """A topic of JSON values."""

    topic: str = Field(min_length=1, max_length=249, description="The Kafka topic.")
    columns: dict[str, FieldSettings] = Field(
        min_length=1, description="Name to type: string, int64, double, boolean, timestamp; or { type, path, required }."
    )


class TableSettings(Section):
    """A live table: either of one source, or a join of two."""

    source: str | None = Field(None, description="The source whose rows it shows.")
    keep: Literal["all", "last"] = Field("all", description="Every row, or the last of each key (of a join: of the left side).")
    key: str | None = Field(None, description='The key column of keep = "last".')
    join: Literal["left", "inner", "asof"] | None = Field(None, description="How left and right are joined.")
    left: str | None = Field(None, description="The source whose rows are shown.")
    right: str | None = Field(None, description="The source that adds columns.")
    on: str | None = Field(None, description="The column of both that they are joined on.")
    max_rows: int | None = Field(None, ge=1, description="Keep the newest so many rows.")
    max_age: Duration | None = Field(None, description="Keep rows younger than this.")


USERS = {"userId": "string", "name": "string", "email": "string", "age": "int64"}
ACCOUNTS = {"userId": "string", "accountType": "string", "balance": "double"}
DEFAULT_SOURCES: dict[str, Any] = {"users": {"topic": "users", "columns": USERS}, "accounts": {"topic": "accounts", "columns": ACCOUNTS}}
DEFAULT_TABLES: dict[str, Any] = {
    "users_ui": {"source": "users"},
    "account": {"source": "accounts"},
    "accounts_ui": {"source": "accounts", "keep": "last", "key": "userId"},
    "final_ui": {"join": "left", "left": "users", "right": "accounts", "on": "userId"},
    "user_account": {"join": "asof", "left": "accounts", "right": "users", "on": "userId"},
}
DEFAULT_ALIASES = {"user": "users_ui"}


class Settings(Section):
    """What a user says. Without a file, exactly the defaults are the catalogue."""

    kafka: KafkaSettings = Field(
        default_factory=lambda: KafkaSettings({"bootstrap.servers": "localhost:9092"}), description="The Kafka of the sources, in librdkafka's names."
    )
    changelog: ChangelogSettings = ChangelogSettings()
    broker: BrokerSettings = BrokerSettings()
    pipeline: PipelineSettings = PipelineSettings()
    control: ControlSettings = ControlSettings()
    server: ServerSettings = ServerSettings()
    log: LogSettings = LogSettings()
    demo: DemoSettings = DemoSettings()
    sources: dict[str, SourceSettings] = Field(default_factory=lambda: _models(SourceSettings, DEFAULT_SOURCES))
    tables: dict[str, TableSettings] = Field(default_factory=lambda: _models(TableSettings, DEFAULT_TABLES))
    aliases: dict[str, str] = Field(default_factory=lambda: dict(DEFAULT_ALIASES))

    def replaced(self, section: str, **values: object) -> Self:
        """A copy with some values of a section changed."""
        return self.model_copy(update={section: getattr(self, section).model_copy(update=values)})

    @property
    def broker_dir(self) -> Path:
        return self.pipeline.state_dir / "broker"

    @property
    def jars_dir(self) -> Path:
        return self.pipeline.jars or self.pipeline.state_dir / "jars"

    @property
    def log_dir(self) -> Path:
        return self.pipeline.state_dir / "logs"


def _models(model: type[Model], raw: dict[str, Any]) -> dict[str, Model]:
    return {name: model.model_validate(value) for name, value in raw.items()}
