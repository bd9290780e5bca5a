"""The names of our own topics."""

import re

LASTING = {"cleanup.policy": "compact", "segment.ms": "600000", "min.cleanable.dirty.ratio": "0.2"}
"""How topics that outlive generations are kept: only the last word on each key, compacted soon, since who starts reads all of them."""


def status_topic(prefix: str) -> str:
    return f"{prefix}.status"


def servers_topic(prefix: str) -> str:
    """What each table server shows."""
    return f"{prefix}.servers"


def control_topic(prefix: str) -> str:
    """Our own one: the order of its messages is the order of the verdicts."""
    return f"{prefix}.control"


def system_changelog(prefix: str, table: str) -> str:
    """The changelog of a table that outlives generations."""
    return f"{prefix}.{table}"


def changelog_topic(prefix: str, table: str, generation: int) -> str:
    return f"{prefix}.{table}.g{generation}"


def seed_topic(prefix: str, generation: int, query: int) -> str:
    return f"{prefix}.seeds.g{generation}.q{query}"


def mark_topic(prefix: str, generation: int, query: int) -> str:
    return f"{prefix}.marks.g{generation}.q{query}"


def is_ours(prefix: str, topic: str) -> bool:
    """Whether it is one of the topics that Tablecast makes by itself."""
    lasting = rf"{re.escape(prefix)}\.(status|servers|control|orchestrator_status|control_raw)"
    return re.fullmatch(rf"{lasting}|{generation_topics(prefix, None)}", topic) is not None


def generation_topics(prefix: str, generation: int | None) -> str:
    """A pattern of the names of all topics of a generation, or of any."""
    number = r"\d+" if generation is None else generation
    return rf"{re.escape(prefix)}\.[A-Za-z_][A-Za-z0-9_]*\.g{number}(\.q\d+)?"
