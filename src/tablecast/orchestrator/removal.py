"""Removes what a generation leaves: its topics and its folder, known by its number alone."""

import re

from pyspark.sql import SparkSession

from tablecast.kafka.admin import Topics
from tablecast.kafka.names import generation_topics
from tablecast.pipeline.checkpoints import checkpoint_folder
from tablecast.settings import Settings


def remove_generation(number: int, topics: Topics, settings: Settings, session: SparkSession) -> None:
    """May be called again, and for one that was only half built."""
    pattern = re.compile(generation_topics(settings.changelog.prefix, number))
    topics.delete([name for name in topics.names() if pattern.fullmatch(name)])
    checkpoint_folder(number, settings.pipeline, session).remove()
