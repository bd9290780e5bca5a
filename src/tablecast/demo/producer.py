"""Sends sample data to the source topics."""

import json
import logging
import threading
import time

from tablecast.demo.people import People
from tablecast.kafka.admin import Topics, wait_until_up
from tablecast.kafka.clients import make_producer
from tablecast.settings import Settings

log = logging.getLogger(__name__)

BACKLOG = 1_000
UP_SECONDS = 60.0


def create_source_topics(settings: Settings) -> None:
    """Only for topics of our own broker: those of a company are made by their owners."""
    topics = Topics(settings.kafka, "source")
    for source in settings.sources.values():
        topics.ensure(source.topic, 1)


def send_samples(settings: Settings, stop: threading.Event) -> None:
    """A first lot at once, so that nobody looks at empty tables, then `demo.rate` messages a second until `stop`."""
    wait_until_up(settings.kafka, UP_SECONDS, "source", stop.is_set)
    create_source_topics(settings)
    producer = make_producer(settings.kafka, {"linger.ms": 0})
    samples = People(settings.demo.seed, settings.demo.keys).samples()
    started = time.monotonic()
    log.info("[sample] %d messages at once, then %g a second", BACKLOG, settings.demo.rate)
    for number, sample in enumerate(samples):
        due = started + max(0, number - BACKLOG) / settings.demo.rate
        if stop.wait(max(0.0, due - time.monotonic())):
            break
        producer.produce(settings.sources[sample.source].topic, json.dumps(sample.value, ensure_ascii=False))
        producer.poll(0)
    producer.flush(2)
