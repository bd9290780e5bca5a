"""Whether the changelog broker answers, and which topics it has."""

from collections.abc import Sequence

from confluent_kafka import KafkaException, TopicCollection

from tablecast.errors import BrokerUnreachable
from tablecast.kafka.admin import Topic, topic_of
from tablecast.kafka.clients import MISSING, code_of, make_admin
from tablecast.settings import KafkaSettings


class TopicFinder:
    """May be used from several threads at once."""

    def __init__(self, kafka: KafkaSettings, timeout: float = 2.0) -> None:
        self.servers = kafka.servers
        self._timeout = timeout
        self._admin = make_admin(kafka, {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500})

    def find(self, names: Sequence[str]) -> dict[str, Topic]:
        """The topics of these names that exist. Raises BrokerUnreachable."""
        futures = self._admin.describe_topics(TopicCollection(list(names)), request_timeout=self._timeout)
        found = {}
        for name, future in futures.items():
            try:
                found[name] = topic_of(name, future.result(timeout=self._timeout * 2))
            except KafkaException as error:
                if code_of(error).code() not in MISSING:
                    raise BrokerUnreachable("changelog", self.servers, code_of(error).str().rstrip(".")) from error
            except TimeoutError as error:
                raise BrokerUnreachable("changelog", self.servers, "no answer in time") from error
        return found
