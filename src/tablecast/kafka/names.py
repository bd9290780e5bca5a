"""The names of our own topics."""

import re

LASTING = {"cleanup.policy": "compact", "segment.ms": "600000", "min.cleanable.dirty.ratio": "0.2"}
"""How topics that outlive generations are kept: only the last word on each key, compacted soon, since who starts reads all of them."""

# Kafka deletes no records of a compacted topic. Small segments, because only whole ones are given back to the disk.
TRIMMED = {"cleanup.policy": "delete", "retention.ms": "-1", "segment.bytes": str(16 << 20)}
"""How topics are kept from which we delete by ourselves what nobody needs any more."""


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


def lasting_topics(prefix: str) -> tuple[str, ...]:
    """All topics that outlive generations."""
    return tuple(f"{prefix}.{name}" for name in ("status", "servers", "control", "orchestrator_status", "control_raw"))


def is_ours(prefix: str, topic: str) -> bool:
    """Whether it is one of the topics that Tablecast makes by itself."""
    return topic in lasting_topics(prefix) or generation_of(prefix, topic) is not None


def generation_of(prefix: str, topic: str) -> int | None:
    """The generation whose topic it is; None if it is of none."""
    found = re.fullmatch(rf"{re.escape(prefix)}\.[A-Za-z_][A-Za-z0-9_]*\.g(?P<number>\d+)(\.q\d+)?", topic)
    return int(found["number"]) if found is not None else None
