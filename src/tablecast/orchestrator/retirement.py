"""When an old generation may go: every server shows its successor, or has had the time to, and it has lingered."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from tablecast.kafka.clients import AT_LEISURE, assign_from_beginning, make_consumer
from tablecast.kafka.names import servers_topic
from tablecast.kafka.status import SERVER_GONE_SECONDS, ServerStatus, decode_server
from tablecast.settings import KafkaSettings

PATIENCE_SECONDS = 60.0
"""After this nobody is waited for."""


@dataclass(frozen=True)
class Heard:
    status: ServerStatus
    at: float


def is_replaced(successor: int, servers: Mapping[str, Heard], since: float, now: float) -> bool:
    """Whether nobody shows the old one any more, as far as it is waited for; `since` is when its successor went live."""
    heard = [server.status for server in servers.values() if now - server.at <= SERVER_GONE_SECONDS]
    return now - since >= PATIENCE_SECONDS or all(server.shows is not None and server.shows >= successor for server in heard)


class Servers:
    """What the table servers show, as each last said."""

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        topic = servers_topic(prefix)
        self.heard: dict[str, Heard] = {}
        self._consumer = make_consumer(kafka, {"group.id": topic, "enable.auto.commit": False, **AT_LEISURE})
        assign_from_beginning(self._consumer, [(topic, 0)])

    def listen(self) -> None:
        """Takes what has come; does not wait."""
        for message in self._consumer.consume(1000, 0):
            if message.error() is None:
                self.take((message.key() or b"").decode(errors="replace"), message.value(), time.monotonic())

    def take(self, server: str, value: bytes | None, now: float) -> None:
        if value is None:
            self.heard.pop(server, None)
            return
        try:
            self.heard[server] = Heard(decode_server(value), now)
        except msgspec.DecodeError:
            return
        self.heard = {name: heard for name, heard in self.heard.items() if now - heard.at <= SERVER_GONE_SECONDS}

    def close(self) -> None:
        self._consumer.close()
