"""librdkafka's names for client settings, and what Java's client calls them. docs/reference/kafka.md shows this table; a test compares."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["both", "consumer", "producer"]


@dataclass(frozen=True)
class Twin:
    """A setting that both clients have with the same meaning and the same values."""

    name: str
    java: str
    side: Side = "both"


TWINS = (
    Twin("bootstrap.servers", "bootstrap.servers"),
    Twin("metadata.broker.list", "bootstrap.servers"),
    Twin("client.id", "client.id"),
    Twin("client.dns.lookup", "client.dns.lookup"),
    Twin("security.protocol", "security.protocol"),
    Twin("metadata.max.age.ms", "metadata.max.age.ms"),
    Twin("connections.max.idle.ms", "connections.max.idle.ms"),
    Twin("reconnect.backoff.ms", "reconnect.backoff.ms"),
    Twin("reconnect.backoff.max.ms", "reconnect.backoff.max.ms"),
    Twin("retry.backoff.ms", "retry.backoff.ms"),
    Twin("retry.backoff.max.ms", "retry.backoff.max.ms"),
    Twin("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.ms"),
    Twin("socket.timeout.ms", "request.timeout.ms"),
    Twin("client.rack", "client.rack", "consumer"),
    Twin("isolation.level", "isolation.level", "consumer"),
    Twin("check.crcs", "check.crcs", "consumer"),
    Twin("fetch.min.bytes", "fetch.min.bytes", "consumer"),
    Twin("fetch.max.bytes", "fetch.max.bytes", "consumer"),
    Twin("fetch.wait.max.ms", "fetch.max.wait.ms", "consumer"),
    Twin("max.partition.fetch.bytes", "max.partition.fetch.bytes", "consumer"),
    Twin("fetch.message.max.bytes", "max.partition.fetch.bytes", "consumer"),
    Twin("acks", "acks", "producer"),
    Twin("request.required.acks", "acks", "producer"),
    Twin("enable.idempotence", "enable.idempotence", "producer"),
    Twin("retries", "retries", "producer"),
    Twin("message.send.max.retries", "retries", "producer"),
    Twin("linger.ms", "linger.ms", "producer"),
    Twin("queue.buffering.max.ms", "linger.ms", "producer"),
    Twin("batch.size", "batch.size", "producer"),
    Twin("compression.type", "compression.type", "producer"),
    Twin("compression.codec", "compression.type", "producer"),
    Twin("max.in.flight.requests.per.connection", "max.in.flight.requests.per.connection", "producer"),
    Twin("max.in.flight", "max.in.flight.requests.per.connection", "producer"),
    Twin("message.max.bytes", "max.request.size", "producer"),
    Twin("delivery.timeout.ms", "delivery.timeout.ms", "producer"),
    Twin("message.timeout.ms", "delivery.timeout.ms", "producer"),
)

CREDENTIALS = {
    "sasl.mechanism": "`sasl.mechanism`: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER; GSSAPI is refused",
    "sasl.mechanisms": "as `sasl.mechanism`",
    "sasl.username": "`sasl.jaas.config` of PLAIN and SCRAM",
    "sasl.password": "`sasl.jaas.config` of PLAIN and SCRAM",
    "sasl.oauthbearer.method": "`oidc`: `sasl.login.callback.handler.class`; `default` is refused",
    "sasl.oauthbearer.grant.type": "`client_credentials`: nothing to say; others are refused",
    "sasl.oauthbearer.token.endpoint.url": "`sasl.oauthbearer.token.endpoint.url`",
    "sasl.oauthbearer.client.id": "`sasl.jaas.config`: `clientId`",
    "sasl.oauthbearer.client.credentials.client.id": "as `sasl.oauthbearer.client.id`",
    "sasl.oauthbearer.client.secret": "`sasl.jaas.config`: `clientSecret`",
    "sasl.oauthbearer.client.credentials.client.secret": "as `sasl.oauthbearer.client.secret`",
    "sasl.oauthbearer.scope": "`sasl.jaas.config`: `scope`",
    "sasl.oauthbearer.extensions": "`sasl.jaas.config`: one `extension_<name>` each",
    "sasl.oauthbearer.sub.claim.name": "`sasl.oauthbearer.sub.claim.name`",
    "https.ca.location": "`sasl.jaas.config`: `ssl.truststore.certificates`, for the token endpoint alone",
    "https.ca.pem": "as `https.ca.location`, given as text",
    "ssl.ca.location": "`ssl.truststore.certificates`, PEM, read from the file; `probe`: Java's own; a folder is refused",
    "ssl.ca.pem": "`ssl.truststore.certificates`",
    "ssl.certificate.location": "`ssl.keystore.certificate.chain`, PEM, read from the file",
    "ssl.certificate.pem": "`ssl.keystore.certificate.chain`",
    "ssl.key.location": "`ssl.keystore.key`, PEM, read from the file, opened and said in PKCS#8, which is all that Java takes",
    "ssl.key.pem": "`ssl.keystore.key`, likewise",
    "ssl.key.password": "opens the key of `ssl.key.location` or `ssl.key.pem`",
    "ssl.keystore.location": "`ssl.keystore.location`, PKCS#12; the file must be on every machine of Spark",
    "ssl.keystore.password": "`ssl.keystore.password`",
    "ssl.endpoint.identification.algorithm": "`ssl.endpoint.identification.algorithm`; `none`: empty",
    "enable.ssl.certificate.verification": "`true`: nothing to say; `false` is refused, because Java's client cannot",
}
"""What is said of settings whose translation depends on others; java_settings.py does it."""

DECIDED_BY_US = {
    "auto.offset.reset": "pipeline.starting_offsets decides",
    "group.id": "Spark reads without a group",
    "group.instance.id": "Spark reads without a group",
    "group.protocol": "Spark reads without a group",
    "group.remote.assignor": "Spark reads without a group",
    "session.timeout.ms": "Spark reads without a group",
    "heartbeat.interval.ms": "Spark reads without a group",
    "max.poll.interval.ms": "Spark reads without a group",
    "partition.assignment.strategy": "Spark reads without a group",
    "enable.auto.commit": "Spark keeps offsets in its checkpoint",
    "auto.commit.enable": "Spark keeps offsets in its checkpoint",
    "auto.commit.interval.ms": "Spark keeps offsets in its checkpoint",
    "enable.auto.offset.store": "Spark keeps offsets in its checkpoint",
    "transactional.id": "one program's own",
    "transaction.timeout.ms": "one program's own",
}
"""Not for Spark: it, or a setting of ours, decides these."""

TUNING = (
    "api.version.fallback.ms",
    "api.version.request",
    "api.version.request.timeout.ms",
    "allow.auto.create.topics",
    "batch.num.messages",
    "broker.address.family",
    "broker.address.ttl",
    "broker.version.fallback",
    "client.software.name",
    "client.software.version",
    "compression.level",
    "coordinator.query.interval.ms",
    "debug",
    "enable.metrics.push",
    "enable.partition.eof",
    "enable.random.seed",
    "enable.sparse.connections",
    "fetch.error.backoff.ms",
    "fetch.queue.backoff.ms",
    "internal.termination.signal",
    "log.connection.close",
    "log.queue",
    "log.thread.name",
    "log_level",
    "message.copy.max.bytes",
    "metadata.recovery.rebootstrap.trigger.ms",
    "metadata.recovery.strategy",
    "queue.buffering.backpressure.threshold",
    "queue.buffering.max.kbytes",
    "queue.buffering.max.messages",
    "queued.max.messages.kbytes",
    "queued.min.messages",
    "receive.message.max.bytes",
    "reconnect.backoff.jitter.ms",
    "request.timeout.ms",
    "socket.blocking.max.ms",
    "socket.keepalive.enable",
    "socket.max.fails",
    "socket.nagle.disable",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
    "statistics.interval.ms",
    "sticky.partitioning.linger.ms",
    "topic.metadata.propagation.max.ms",
    "topic.metadata.refresh.fast.cnt",
    "topic.metadata.refresh.fast.interval.ms",
    "topic.metadata.refresh.interval.ms",
    "topic.metadata.refresh.sparse",
)
"""librdkafka's own tuning. Java's client does without, and no record is read or written differently."""

CONSUMER_NAMES = frozenset(
    {twin.name for twin in TWINS if twin.side == "consumer"}
    | (DECIDED_BY_US.keys() - {"transactional.id", "transaction.timeout.ms"})
    | {"enable.partition.eof", "fetch.error.backoff.ms", "fetch.queue.backoff.ms", "queued.max.messages.kbytes", "queued.min.messages"}
    | {"allow.auto.create.topics", "coordinator.query.interval.ms"}
)
PRODUCER_NAMES = frozenset(
    ({twin.name for twin in TWINS if twin.side == "producer"} - {"message.max.bytes", "max.in.flight", "max.in.flight.requests.per.connection"})
    | {"transactional.id", "transaction.timeout.ms", "request.timeout.ms", "batch.num.messages", "compression.level"}
    | {"queue.buffering.backpressure.threshold", "queue.buffering.max.kbytes", "queue.buffering.max.messages", "sticky.partitioning.linger.ms"}
)
"""Names that the other kind of client answers with a warning."""
