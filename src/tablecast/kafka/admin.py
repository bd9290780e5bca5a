"""What we ask of a Kafka besides records: is it up, which topics are there, create and delete ours."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka import KafkaError as Code
from confluent_kafka.admin import NewTopic, OffsetSpec

from tablecast.errors import KafkaError, TablecastError, TopicMissing
from tablecast.kafka.clients import code_of, concerns_group, make_admin, make_consumer, translated
from tablecast.kafka.complaints import LastComplaint
from tablecast.settings import KafkaSettings

POLL_SECONDS = 0.05
CALL_SECONDS = 15.0
QUICK_RECONNECT = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}

MOVING = frozenset(
    {Code.NOT_LEADER_FOR_PARTITION, Code.LEADER_NOT_AVAILABLE, Code.UNKNOWN_TOPIC_OR_PART, Code.REPLICA_NOT_AVAILABLE}
    | {Code.UNKNOWN_LEADER_EPOCH, Code.FENCED_LEADER_EPOCH, Code.KAFKA_STORAGE_ERROR}
)
"""A leader is being chosen, or not everybody has heard of it."""
TOLERATED = object()
"""The answer of a step whose failure its caller expects."""


@dataclass(frozen=True)
class Topic:
    """A topic at one moment. Created again under the same name it has another `id`, and its offsets begin anew."""

    name: str
    id: str
    partitions: tuple[int, ...]
    led: bool = field(default=True, compare=False)
    """Whether every partition has a leader now."""


def topic_of(name: str, description: Any) -> Topic:
    """What Kafka has described, in our words."""
    partitions = {partition.id: partition.leader is not None for partition in description.partitions}
    return Topic(name, str(description.topic_id), tuple(sorted(partitions)), bool(partitions) and all(partitions.values()))


def wait_until_up(kafka: KafkaSettings, timeout: float, role: str = "source", given_up: Callable[[], bool] = lambda: False) -> str:
    """Returns the cluster's id as soon as a broker answers. BrokerUnreachable after `timeout` seconds, or once `given_up()`; at once if somebody
    answers who does not let us in."""
    deadline = time.monotonic() + timeout
    complaint, reason = LastComplaint(), "no broker is ready"
    admin = make_admin(kafka, {"error_cb": complaint, **QUICK_RECONNECT})
    while True:
        left = deadline - time.monotonic()
        try:
            metadata = admin.list_topics(timeout=min(max(left, 0.1), 1.0))
            if metadata.brokers:
                return metadata.cluster_id or ""
        except KafkaException as error:
            reason = code_of(error).str().rstrip(".")
        admin.poll(POLL_SECONDS)
        if left <= 0 or given_up() or complaint.is_final:
            raise complaint.error(role, kafka, reason)


class Topics:
    """The topics of one Kafka. Every method raises BrokerUnreachable when nobody answers within `timeout` seconds."""

    def __init__(self, kafka: KafkaSettings, role: str = "changelog", timeout: float = CALL_SECONDS) -> None:
        self.kafka = kafka
        self.role = role
        self._timeout = timeout
        self._complaint = LastComplaint()
        self._admin = make_admin(kafka, {"error_cb": self._complaint, **QUICK_RECONNECT})

    def names(self) -> set[str]:
        """All topics that these credentials may see, Kafka's own left out."""
        return set(self.listed())

    def listed(self) -> dict[str, int]:
        """The same, with how many partitions each has."""
        try:
            metadata = self._admin.list_topics(timeout=self._timeout)
        except KafkaException as error:
            raise self._translated(error, "", "read") from error
        return {name: len(topic.partitions) for name, topic in metadata.topics.items() if not name.startswith("__")}

    def partitions(self, topic: str) -> int:
        """How many partitions it has. TopicMissing, TopicForbidden."""
        return len(self.find(topic).partitions)

    def find(self, topic: str) -> Topic:
        """Which topic now has this name. TopicMissing, TopicForbidden. Asked with a request that creates nothing on any broker, unlike plain
        metadata of a topic."""
        futures = self._admin.describe_topics(TopicCollection([topic]), request_timeout=self._timeout)
        return topic_of(topic, self._result(futures[topic], topic, "read"))

    def ensure(self, topic: str, partitions: int, config: Mapping[str, str] | None = None, replication: int = 1) -> bool:
        """Whether it was created by this call. Returns when every partition has a leader. An existing topic is left as it is."""
        if self._usable(topic):
            return False
        created = self._create(NewTopic(topic, partitions, replication, config=dict(config or {})))
        self._until(lambda: self._usable(topic), f"the topic {topic!r} has no leader yet")
        return created

    def may_create(self, topic: str, replication: int = 1) -> None:
        """TopicForbidden or KafkaError if a topic of this name could not be created; nothing is created."""
        self._create(NewTopic(topic, 1, replication), validate_only=True)

    def delete(self, topics: Iterable[str]) -> None:
        """Returns when they are gone; one that was not there is no error."""
        names = list(topics)
        if not names:
            return
        for topic, future in self._admin.delete_topics(names, operation_timeout=self._timeout, request_timeout=self._timeout).items():
            self._result(future, topic, "delete", tolerated=frozenset({Code.UNKNOWN_TOPIC_OR_PART}))
        self._until(lambda: not self.names() & set(names), "topics are still being deleted")

    def delete_records(self, topic: str, before: Mapping[int, int]) -> None:
        """Forgets the records before these offsets: partition to offset."""
        places = [TopicPartition(topic, partition, offset) for partition, offset in before.items()]
        futures = self._admin.delete_records(places, operation_timeout=self._timeout, request_timeout=self._timeout)
        for future in futures.values():
            self._result(future, topic, "delete records of")

    def end_offsets(self, topic: str) -> dict[int, int]:
        """Partition to the offset after the last record that can be read: one of an open transaction cannot."""
        return self._offsets(topic, OffsetSpec.latest())

    def begin_offsets(self, topic: str) -> dict[int, int]:
        """Partition to the offset of the first record that is still there."""
        return self._offsets(topic, OffsetSpec.earliest())

    def _offsets(self, topic: str, spec: OffsetSpec) -> dict[int, int]:
        found: dict[int, int] = {}

        def answered() -> bool:
            found.update(self._try_offsets(topic, self.find(topic).partitions, spec))
            return bool(found)

        self._until(answered, f"the topic {topic!r} has no leader")
        return found

    def _try_offsets(self, topic: str, partitions: Sequence[int], spec: OffsetSpec) -> dict[int, int]:
        """Nothing while a leader is on its way: metadata names one a moment before it serves."""
        places = {TopicPartition(topic, partition): spec for partition in partitions}
        answers = self._admin.list_offsets(places, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=self._timeout)
        results = {place.partition: self._result(future, topic, "read", tolerated=MOVING) for place, future in answers.items()}
        return {} if TOLERATED in results.values() else {partition: result.offset for partition, result in results.items()}

    def check_readable(self, topic: str) -> None:
        """TopicMissing, TopicForbidden, or nothing if a record of it could really be fetched."""
        partition = min(self.find(topic).partitions)
        own = {"group.id": "tablecast-check", "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 10}
        consumer = make_consumer(self.kafka, own)
        try:
            # An explicit offset, because asking for a committed one takes rights on the group.
            consumer.assign([TopicPartition(topic, partition, self.end_offsets(topic)[partition])])
            self._until(lambda: self._fetched(consumer, topic), f"nobody answers a fetch of {topic!r}")
        except KafkaException as error:
            raise translated(error, self.kafka, self.role, topic) from error
        finally:
            consumer.close()

    def _fetched(self, consumer: Consumer, topic: str) -> bool:
        message = consumer.poll(POLL_SECONDS)
        problem = message.error() if message else None
        if concerns_group(problem):
            return False
        if problem and problem.code() != Code._PARTITION_EOF and problem.code() not in MOVING:
            raise translated(problem, self.kafka, self.role, topic)
        return message is not None and (problem is None or problem.code() == Code._PARTITION_EOF)

    def _usable(self, topic: str) -> bool:
        """Whether it is there and every partition has a leader that answers."""
        try:
            found = self.find(topic)
        except TopicMissing:
            return False
        return found.led and bool(self._try_offsets(topic, found.partitions, OffsetSpec.earliest()))

    def _create(self, topic: NewTopic, validate_only: bool = False) -> bool:
        futures = self._admin.create_topics([topic], operation_timeout=self._timeout, request_timeout=self._timeout, validate_only=validate_only)
        return self._result(futures[topic.topic], topic.topic, "create", tolerated=frozenset({Code.TOPIC_ALREADY_EXISTS})) is not TOLERATED

    def _result(self, future: "Future[Any]", topic: str, action: str, tolerated: frozenset[int] = frozenset()) -> Any:
        try:
            answer = future.result(self._timeout)
            self._complaint.forget()
            return answer
        except KafkaException as error:
            if code_of(error).code() in tolerated:
                return TOLERATED
            raise self._translated(error, topic, action) from error
        except TimeoutError as error:
            self._admin.poll(0)
            raise self._complaint.error(self.role, self.kafka, f"no answer to {action} {topic!r} within {self._timeout:g} s") from error

    def _translated(self, error: KafkaException, topic: str, action: str) -> TablecastError:
        # What it complained of meanwhile is heard now.
        self._admin.poll(0)
        return translated(error, self.kafka, self.role, topic, action, self._complaint)

    def _until(self, condition: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + self._timeout
        while not condition():
            if time.monotonic() >= deadline:
                raise KafkaError(f"On the {self.role} Kafka at {self.kafka.servers} {otherwise}.", "Its log says why.")
            time.sleep(POLL_SECONDS)
