"""A pair of topics behind the tables, to swap with another."""

import json
import random
from pathlib import Path
from typing import Any

from tablecast.configuration import load
from tablecast.kafka.clients import make_producer
from tablecast.kafka.names import changelog_topic
from tablecast.orchestrator.control import overlaid
from tablecast.settings import KafkaSettings
from tests.pipeline.changelogs import Changelogs
from tests.pipeline.model import Content, truth
from tests.pipeline.running import Draft, Running

START = 1_700_000_000_000


class Pair:
    """Two topics, what was sent to them, and what the tables of a generation over them must hold."""

    def __init__(self, kafka: KafkaSettings, prefix: str, users: str, accounts: str, file: str = "") -> None:
        """`file` has the catalogue, if it is not the default one."""
        self.topics = {"users": users, "accounts": accounts}
        self._kafka = kafka
        self._prefix = prefix
        self._random = random.Random(users)
        self._now = START
        catalog = overlaid(load(Path(file) if file else None, {}).catalog, self.topics, {})
        self._running = Running(catalog, kafka, Changelogs(kafka, {}), [], make_producer(kafka, {"linger.ms": 0}))

    def send(self, count: int) -> None:
        self._running.send(self._draft() for _ in range(count))

    def expect_truth(self, generation: int, join: str = "left") -> None:
        self._running.catalog = overlaid(self._running.catalog, {}, {"final_ui": join})
        tables = self._running.catalog.columns()
        self._running.changelogs = Changelogs(self._kafka, {table: changelog_topic(self._prefix, table, generation) for table in tables})
        try:
            self._running.expect_truth()
        finally:
            self._running.changelogs.close()

    def truth(self) -> dict[str, Content]:
        """By the join that was last expected."""
        return truth(self._running.catalog, self._running.sent)

    def message(self, **more: Any) -> bytes:
        return json.dumps({"usersTopic": self.topics["users"], "accountsTopic": self.topics["accounts"]} | more).encode()

    def _draft(self) -> Draft:
        self._now += 1
        key, partition = f"k{self._random.randrange(30)}", self._random.randrange(2)
        if self._random.random() < 0.05:
            return Draft("users", b"no json", self._now, partition, "not_json")
        if self._random.random() < 0.5:
            return Draft("users", {"userId": key, "name": f"n{self._now}", "email": None, "age": self._now}, self._now, partition)
        return Draft("accounts", {"userId": key, "accountType": "t", "balance": self._random.random()}, self._now, partition)
