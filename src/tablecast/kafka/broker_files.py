"""What the embedded broker keeps in its folder: its address, its server.properties, its data."""

import base64
import json
import random
import socket
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from tablecast.errors import PortInUse
from tablecast.kafka.changelog import MIB, record_bytes, seed_bytes
from tablecast.settings import KafkaSettings, Settings

HOST = "127.0.0.1"
DATA = "data"
PROPERTIES = "server.properties"
ADDRESS = "address.json"
# Below the ports that Linux and macOS hand out to clients, so that a kept port is free again after a restart.
PORTS = range(20_000, 32_000)
TRIES = 200
MIN_SEGMENT = 64 * MIB
MIN_REQUEST = 100 * MIB
FOR_TWO_CORES: dict[str, object] = {
    "log.index.size.max.bytes": MIB,
    "log.segment.delete.delay.ms": 1000,
    "log.cleaner.enable": "true",
    "log.cleaner.threads": 1,
    "log.cleaner.dedupe.buffer.size": 32 * MIB,
    "num.network.threads": 1,
    "num.io.threads": 2,
    "background.threads": 2,
    "num.recovery.threads.per.data.dir": 2,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    # After a kill -9 the controller, restarted too, refuses the broker until the session of its predecessor has timed out.
    "broker.session.timeout.ms": 3000,
    "broker.heartbeat.interval.ms": 1000,
    # By itself the controller writes to its log twice a second that nothing has happened.
    "metadata.max.idle.interval.ms": 5000,
}
"""Few threads, small buffers."""


@dataclass(frozen=True)
class Address:
    """Where the embedded broker listens. `cluster` tells it from a stranger on the same port."""

    port: int
    controller_port: int
    cluster: str

    @property
    def kafka(self) -> KafkaSettings:
        return KafkaSettings({"bootstrap.servers": f"{HOST}:{self.port}"})


def read_address(folder: Path) -> Address | None:
    """The address that the broker of this folder has, or None before its first start."""
    try:
        return Address(**json.loads((folder / ADDRESS).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def choose_address(folder: Path, wanted: int) -> Address:
    """The kept address, else a new one, written down. PortInUse if `wanted` is taken.

    With `wanted` 0 a kept port that a stranger took meanwhile is given up for another.
    """
    kept = read_address(folder)
    cluster = kept.cluster if kept else new_cluster_id()
    port = wanted or (kept.port if kept and is_free(kept.port) else free_port(but=0))
    if not is_free(port):
        raise PortInUse(HOST, port, "broker.port")
    controller = kept.controller_port if kept and kept.controller_port != port and is_free(kept.controller_port) else free_port(but=port)
    address = Address(port, controller, cluster)
    if address != kept:
        part = folder / f"{ADDRESS}.part"
        part.write_text(json.dumps(asdict(address)))
        part.replace(folder / ADDRESS)
    return address


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port(but: int) -> int:
    for _ in range(TRIES):
        port = random.choice(PORTS)
        if port != but and is_free(port):
            return port
    raise PortInUse(HOST, port, "broker.port")


def new_cluster_id() -> str:
    """A random id as Kafka writes them; never with a leading dash, which a command line would take for an option."""
    return "T" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]


def write_properties(folder: Path, address: Address, settings: Settings) -> None:
    """Paths in it are relative to `folder`, where the broker runs: no character of a path needs escaping."""
    lines = (f"{name}={value}\n" for name, value in server_properties(address, settings.pipeline.row_bytes).items())
    (folder / PROPERTIES).write_text("".join(lines))


def server_properties(address: Address, row_bytes: int) -> dict[str, object]:
    """A single node, with no topic that nobody asked for."""
    message, largest = record_bytes(row_bytes), seed_bytes(row_bytes)
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{address.controller_port}",
        "listeners": f"PLAINTEXT://{HOST}:{address.port},CONTROLLER://{HOST}:{address.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{address.port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": DATA,
        "auto.create.topics.enable": "false",
        "delete.topic.enable": "true",
        "message.max.bytes": message,
        "replica.fetch.max.bytes": largest,
        "socket.request.max.bytes": max(MIN_REQUEST, largest + MIB),
        "log.segment.bytes": max(MIN_SEGMENT, largest + MIB),
        **FOR_TWO_CORES,
    }
