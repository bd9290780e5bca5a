"""Removes what a generation leaves: its topics and its folder, known by its number alone."""

import logging

from pyspark.sql import SparkSession

from tablecast.kafka.admin import Topics
from tablecast.kafka.names import generation_of
from tablecast.pipeline.checkpoints import checkpoint_folder, generations_with_checkpoints
from tablecast.settings import Settings

log = logging.getLogger(__name__)


def remove_generation(number: int, topics: Topics, settings: Settings, session: SparkSession) -> None:
    """May be called again, and for one that was only half built."""
    topics.delete([name for name in topics.names() if generation_of(settings.changelog.prefix, name) == number])
    checkpoint_folder(number, settings.pipeline, session).remove()


def generations_with_remains(topics: Topics, settings: Settings, session: SparkSession) -> set[int]:
    """Those of which a topic or a folder is there."""
    found = {number for name in topics.names() if (number := generation_of(settings.changelog.prefix, name)) is not None}
    try:
        return found | generations_with_checkpoints(settings.pipeline, session)
    except OSError as error:
        log.warning("[orchestrator] the folder of the checkpoints cannot be listed, and old ones in it stay: %s", error)
        return found
