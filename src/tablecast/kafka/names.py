"""The names of our own topics."""

import re


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


def generation_topics(prefix: str, generation: int) -> str:
    """A pattern of the names of all topics of a generation."""
    return rf"{re.escape(prefix)}\.[A-Za-z_][A-Za-z0-9_]*\.g{generation}(\.q\d+)?"
