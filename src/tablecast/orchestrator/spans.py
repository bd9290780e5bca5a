"""Which records of each topic a generation is filled with, kept beside its checkpoints: a query that starts again must begin where it began."""

import json
from collections.abc import Iterable

from tablecast.kafka.admin import Topics
from tablecast.pipeline.checkpoints import CheckpointFolder
from tablecast.pipeline.query import Span, Spans

FILE = "spans.json"


def measure(topics: Topics, names: Iterable[str], from_beginning: bool) -> dict[str, Span]:
    """The spans as they are now; empty ones if nothing that exists is wanted."""
    spans = {}
    for name in names:
        end = topics.end_offsets(name)
        spans[name] = Span(topics.begin_offsets(name) if from_beginning else end, end)
    return spans


def save(spans: Spans, folder: CheckpointFolder) -> None:
    folder.write(FILE, json.dumps({topic: {"begin": dict(span.begin), "end": dict(span.end)} for topic, span in spans.items()}))


def read(folder: CheckpointFolder) -> dict[str, Span]:
    raw = json.loads(folder.read(FILE))
    return {topic: Span(_offsets(span["begin"]), _offsets(span["end"])) for topic, span in raw.items()}


def is_readable(folder: CheckpointFolder) -> bool:
    """Whether it is there and says what it should."""
    try:
        read(folder)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
    return True


def _offsets(raw: dict[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in raw.items()}
