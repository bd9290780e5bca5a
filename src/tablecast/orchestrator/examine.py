"""Looks at the topics that a control message asks for: are they there, may we read them, are their records of the declared shape."""

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka import KafkaError as Code

from tablecast.catalog import Catalog, Field, Source
from tablecast.errors import BrokerUnreachable, TablecastError
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import concerns_group, make_consumer
from tablecast.orchestrator.control import Rejection
from tablecast.settings import KafkaSettings

SAMPLE = 20
"""Records of a partition that are looked at: the newest."""
MOST_PARTITIONS = 8
EXAMINE_SECONDS = 10.0

KINDS: dict[str, tuple[type, ...]] = {"string": (str,), "timestamp": (str,), "int64": (int,), "double": (int, float), "boolean": (bool,)}


def examine(catalog: Catalog, kafka: KafkaSettings, seconds: float = EXAMINE_SECONDS) -> Rejection | None:
    """Takes at most about `seconds`; who has no record to show by then is refused. An empty topic is fine: its records will be judged one by
    one when they come."""
    deadline = time.monotonic() + seconds
    for source in catalog.sources.values():
        topics = Topics(kafka, "source", max(1.0, deadline - time.monotonic()))
        try:
            topics.check_readable(source.topic)
            reason = misfit(source, _newest(topics, source.topic, deadline))
        except TablecastError as error:
            return Rejection(f"{source.name}: {error}")
        if reason is not None:
            return Rejection(f"the topic {source.topic!r} does not look like {source.name}: {reason}")
    return None


def misfit(source: Source, sample: Sequence[bytes | None]) -> str | None:
    """Why these cannot be records of the source; None if at least one can, or if there are none."""
    if not sample:
        return None
    reasons = [_flaw(source, value) for value in sample]
    if all(reasons):
        return f"{reasons[-1]} (none of the newest {len(sample)} records fits)"
    others = [field for field in source.fields if field.column.name not in source.keys]
    if others and not any(_at(_decoded(value), field) is not None for value in sample for field in others):
        names = ", ".join(field.column.name for field in others)
        return f"none of the newest {len(sample)} records has any of {names}"
    return None


def _flaw(source: Source, value: bytes | None) -> str | None:
    decoded = _decoded(value)
    if not isinstance(decoded, dict):
        return f"got {(value or b'')[:60]!r}, expected a JSON object"
    for field in source.fields:
        cell, name, kind = _at(decoded, field), field.column.name, field.column.type
        if cell is None or (name in source.keys and not str(cell).strip()):
            if field.required or name in source.keys:
                return f"{name} is missing or blank, expected {kind}"
        elif not _is_of(cell, kind):
            return f"{name} is {msgspec.json.encode(cell).decode()[:60]}, expected {kind}"
    return None


def _is_of(cell: Any, kind: str) -> bool:
    if isinstance(cell, bool) or kind == "boolean":
        return isinstance(cell, bool) and kind == "boolean"
    if kind == "double" and isinstance(cell, str):
        return cell in ("NaN", "Infinity", "-Infinity", "+INF", "-INF", "INF")
    return isinstance(cell, KINDS[kind])


def _decoded(value: bytes | None) -> Any:
    try:
        return msgspec.json.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _at(value: Any, field: Field) -> Any:
    for part in field.path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _newest(topics: Topics, topic: str, deadline: float) -> list[bytes | None]:
    ends, begins = topics.end_offsets(topic), topics.begin_offsets(topic)
    places = [
        TopicPartition(topic, partition, max(begins[partition], ends[partition] - SAMPLE))
        for partition in sorted(ends)
        if ends[partition] > begins[partition]
    ][:MOST_PARTITIONS]
    if not places:
        return []
    own = {"group.id": "tablecast-examine", "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 10}
    consumer = make_consumer(topics.kafka, own)
    try:
        consumer.assign(places)
        sample, whole = _until_ends(consumer, {place.partition: ends[place.partition] for place in places}, deadline)
    finally:
        consumer.close()
    # Offsets without records, as compaction and transactions leave them, are an empty topic.
    if not sample and not whole:
        raise BrokerUnreachable("source", topics.kafka.servers, f"no record of {topic!r} came in time")
    return sample


def _until_ends(consumer: Consumer, ends: dict[int, int], deadline: float) -> tuple[list[bytes | None], bool]:
    """The values up to these offsets, as far as they come in time, and whether that was all of them."""
    sample: list[bytes | None] = []
    left = set(ends)
    while left and time.monotonic() < deadline:
        message = consumer.poll(0.1)
        if message is None or concerns_group(message.error()):
            continue
        error = message.error()
        if error is None:
            sample.append(message.value())
        partition = message.partition() or 0
        if (error is not None and error.code() == Code._PARTITION_EOF) or (message.offset() or 0) >= ends[partition] - 1:
            left.discard(partition)
    return sample, not left
