"""Reads changelogs back into tables, by the rules that every reader follows."""

import json
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition

from tablecast.kafka.changelog import ORDER_HEADER, VERSION_HEADER
from tablecast.kafka.clients import make_consumer
from tablecast.settings import KafkaSettings
from tablecast.tables.version import left_order, parse_order, supersedes

Row = tuple[bytes, tuple[int, int, int], dict[str, Any]]

OWN: dict[str, str | int | bool] = {"group.id": "changelogs", "enable.auto.commit": False, "fetch.wait.max.ms": 5, "auto.offset.reset": "earliest"}


class Changelogs:
    """Follows the changelogs of a generation. `topics` is table to topic."""

    def __init__(self, kafka: KafkaSettings, topics: Mapping[str, str]) -> None:
        self._tables = {topic: table for table, topic in topics.items()}
        self.rows: dict[str, dict[str, Row]] = {table: {} for table in topics}
        self.emitted: dict[str, int] = dict.fromkeys(topics, 0)
        self._consumer: Consumer = make_consumer(kafka, OWN)
        self._consumer.assign([TopicPartition(topic, 0, 0) for topic in topics.values()])

    def poll(self, seconds: float = 0.05) -> int:
        messages = self._consumer.consume(5_000, seconds)
        for message in messages:
            assert message.error() is None, message.error()
            self._take(message)
        return len(messages)

    def content(self, table: str) -> list[tuple[str, dict[str, Any]]]:
        ordered = sorted(self.rows[table].items(), key=lambda item: (item[1][1], item[0]))
        return [(row_id, cells) for row_id, (_, _, cells) in ordered]

    def close(self) -> None:
        self._consumer.close()

    def _take(self, message: Message) -> None:
        table = self._tables[str(message.topic())]
        self.emitted[table] += 1
        headers: dict[str, bytes] = dict(message.headers() or ())  # type: ignore[arg-type]
        version = headers[VERSION_HEADER]
        order = parse_order(headers.get(ORDER_HEADER) or left_order(version))
        row_id, value = (message.key() or b"").decode(), json.loads(message.value() or b"null")
        known = self.rows[table].get(row_id)
        if known is None:
            self.rows[table][row_id] = (version, order, value)
            return
        if known[0] == version:
            assert known[2] == value, f"{table} {row_id} has two contents of one version"
        newer = supersedes(version, known[0])
        self.rows[table][row_id] = (version if newer else known[0], min(order, known[1]), value if newer else known[2])
