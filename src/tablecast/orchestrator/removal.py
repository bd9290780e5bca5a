"""Removes what a generation leaves: its topics and its folder, known by its number alone."""

import re
import shutil
from pathlib import Path

from tablecast.kafka.admin import Topics
from tablecast.kafka.names import generation_topics
from tablecast.settings import Settings


def folder_of(number: int, settings: Settings) -> Path:
    """Checkpoints and spans."""
    return settings.pipeline.state_dir.resolve() / "checkpoints" / f"g{number}"


def remove_generation(number: int, topics: Topics, settings: Settings) -> None:
    """May be called again, and for one that was only half built."""
    pattern = re.compile(generation_topics(settings.changelog.prefix, number))
    topics.delete([name for name in topics.names() if pattern.fullmatch(name)])
    shutil.rmtree(folder_of(number, settings), ignore_errors=True)
