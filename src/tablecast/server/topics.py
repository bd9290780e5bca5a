"""Whether the changelog broker answers, and which topics it has."""

from collections.abc import Sequence

from confluent_kafka import KafkaException, TopicCollection

from tablecast.kafka.admin import Topic, topic_of
from tablecast.kafka.clients import MISSING, code_of, make_admin, translated
from tablecast.kafka.complaints import LastComplaint
from tablecast.settings import KafkaSettings


class TopicFinder:
    """May be used from several threads at once."""

    def __init__(self, kafka: KafkaSettings, timeout: float = 2.0) -> None:
        self._kafka = kafka
        self._timeout = timeout
        self._complaint = LastComplaint()
        self._admin = make_admin(kafka, {"error_cb": self._complaint, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500})

    def find(self, names: Sequence[str]) -> dict[str, Topic]:
        """The topics of these names that exist. Raises KafkaError: BrokerUnreachable, TopicForbidden."""
        futures = self._admin.describe_topics(TopicCollection(list(names)), request_timeout=self._timeout)
        found = {}
        for name, future in futures.items():
            try:
                found[name] = topic_of(name, future.result(timeout=self._timeout * 2))
            except KafkaException as error:
                if code_of(error).code() not in MISSING:
                    self._admin.poll(0)
                    raise translated(error, self._kafka, "changelog", name, complaint=self._complaint) from error
            except TimeoutError as error:
                self._admin.poll(0)
                raise self._complaint.error("changelog", self._kafka, "no answer in time") from error
        self._complaint.forget()
        return found
