"""Asks the orchestrator for other topics, as the command line does: only for a change, not too often, and hears the verdict."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tablecast.errors import NotReady, NoVerdict
from tablecast.kafka.clients import assign_from_beginning, make_consumer
from tablecast.kafka.control import CONTROL_TABLE, control_message, is_pending, send_control
from tablecast.kafka.names import status_topic, system_changelog
from tablecast.kafka.standing import standing, standing_statuses
from tablecast.kafka.status import COMING, newest_live
from tablecast.settings import KafkaSettings

APART_SECONDS = 1.0
"""Between two messages, whoever sent the one before."""


class Asking:
    """One question to the orchestrator whose changelogs are on this Kafka."""

    def __init__(self, kafka: KafkaSettings, prefix: str) -> None:
        """NotReady if no generation is live: then nobody knows what a change would be."""
        self._kafka = kafka
        self._prefix = prefix
        statuses = standing_statuses(kafka, status_topic(prefix)).values()
        live = newest_live(statuses)
        if live is None:
            raise NotReady("no generation is live yet")
        self.live = live
        self._rows = {message.key(): value for message in standing(kafka, system_changelog(prefix, CONTROL_TABLE)) if (value := message.value())}
        self._quiet = not any(status.state in COMING for status in statuses) and not any(map(is_pending, self._rows.values()))

    def ask(self, topics: Mapping[str, str], join: str | None, dry_run: bool = False) -> str | None:
        """The id of the message that was sent; None if it would change nothing. What is not given stays as it is. A dry run only asks."""
        live = self.live
        wanted = live.topics | dict(topics)
        joined = join or next(iter(live.join.values()), None)
        joins = set(live.join.values())
        # One that cannot go on may be asked for again: it is then built anew.
        if self._quiet and live.error is None and wanted == live.topics and joined in (None, *joins) and len(joins) <= 1:
            return None
        self._keep_apart()
        return send_control(self._kafka, self._prefix, control_message(wanted, joined, dry_run))

    def verdict(self, message: str, seconds: float) -> dict[str, Any]:
        """The row of control_raw, once it says more than that it is pending. NoVerdict after `seconds`."""
        topic, deadline = system_changelog(self._prefix, CONTROL_TABLE), time.monotonic() + seconds
        consumer = make_consumer(self._kafka, {"group.id": topic, "enable.auto.commit": False, "fetch.wait.max.ms": 50})
        assign_from_beginning(consumer, [(topic, 0)])
        try:
            while time.monotonic() < deadline:
                answer = consumer.poll(0.2)
                if answer is None or answer.error() is not None or answer.key() != message.encode() or not answer.value():
                    continue
                row: dict[str, Any] = json.loads(answer.value() or b"{}")
                if row["verdict"] != "pending":
                    return row
        finally:
            consumer.close()
        raise NoVerdict(message, seconds)

    def _keep_apart(self) -> None:
        if self._rows:
            last = max(json.loads(row)["received"] for row in self._rows.values())
            age = (datetime.now(UTC) - datetime.fromisoformat(last)).total_seconds()
            time.sleep(min(APART_SECONDS, max(0.0, APART_SECONDS - age)))
