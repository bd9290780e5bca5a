"""The names of our own topics."""


def status_topic(prefix: str) -> str:
    return f"{prefix}.status"


def changelog_topic(prefix: str, table: str, generation: int) -> str:
    return f"{prefix}.{table}.g{generation}"
