"""Control messages on our own control topic: how they are sent, and how a verdict is told.

A message's value is what somebody wrote, as it is. A header `tablecast-id` names it, else `<partition>-<offset>` does.
"""

import json
import uuid
from collections.abc import Mapping
from typing import Any, Literal

from confluent_kafka import KafkaException, Message

from tablecast.catalog import Column
from tablecast.errors import BrokerUnreachable
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer, translated
from tablecast.kafka.names import control_topic
from tablecast.settings import KafkaSettings

Verdict = Literal["pending", "applied", "no_change", "superseded", "rejected", "would_apply"]

DRY_RUN_FIELD = "dryRun"

ID_HEADER = "tablecast-id"
PLACE_HEADER = "tablecast-place"
"""On a row of control_raw: where its message stands on our control topic, and the id of that topic, as in `0-17@id`."""
MOST_ID = 200
"""Characters of an id that are kept."""

STATUS_TABLE = "orchestrator_status"
CONTROL_TABLE = "control_raw"
CONTROL_ROWS = 1000
CONTROL_COLUMNS = (
    Column("id", "string"),
    Column("received", "timestamp"),
    Column("text", "string"),
    Column("verdict", "string"),
    Column("reason", "string"),
    Column("generation", "int64"),
)

SEND_SECONDS = 10.0


def send_control(kafka: KafkaSettings, prefix: str, text: bytes, own_id: str | None = None) -> str:
    """Puts a message on our control topic, and returns the id under which control_raw will tell its verdict. Blocks until the broker has it.

    TopicMissing if no orchestrator has ever run here; BrokerUnreachable.
    """
    topic, own_id = control_topic(prefix), own_id or uuid.uuid4().hex
    # A producer would wait for a topic that is missing.
    Topics(kafka, timeout=SEND_SECONDS).partitions(topic)
    failures: list[KafkaException] = []
    producer = make_producer(kafka, {"acks": "all", "linger.ms": 0})
    producer.produce(
        topic,
        text,
        headers=[(ID_HEADER, own_id.encode())],
        on_delivery=lambda error, _: failures.append(KafkaException(error)) if error else None,
    )
    if producer.flush(SEND_SECONDS):
        raise BrokerUnreachable("changelog", kafka.servers, f"a control message was not taken within {SEND_SECONDS:g} s")
    if failures:
        raise translated(failures[0], kafka, "changelog", topic, "write")
    return own_id


def control_message(topics: Mapping[str, str], join: str | None, dry_run: bool = False) -> bytes:
    """A message as everybody writes it: `<source>Topic` for each source, and the join type, which is left if none is said. A dry run is looked
    at and answered, and changes nothing."""
    fields: dict[str, Any] = {topic_field(source): topic for source, topic in topics.items()}
    fields |= {"joinType": join} if join is not None else {}
    fields |= {DRY_RUN_FIELD: True} if dry_run else {}
    return json.dumps(fields, ensure_ascii=False).encode()


def is_pending(row: bytes) -> bool:
    """Whether a row of control_raw tells of a message that has no verdict yet: what is live does not say then what will be."""
    return bool(json.loads(row).get("verdict") == "pending")


def topic_field(source: str) -> str:
    return f"{source}Topic"


def header(message: Message, name: str) -> bytes | None:
    """The last header of this name."""
    return next((value for key, value in reversed(message.headers() or []) if key == name and isinstance(value, bytes)), None)
