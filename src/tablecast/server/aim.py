"""Which generation a server reads next, decided from the statuses alone."""

from collections.abc import Iterable

from tablecast.kafka.status import COMING, GenerationStatus, newest_live


def aim(statuses: Iterable[GenerationStatus], shown: GenerationStatus | None, again: bool = False) -> GenerationStatus | None:
    """The generation to read beside the one that is shown, if any: the newest live one unless that is shown, else the newest that comes after it.

    `again`: what is shown has to be read again, though it is the right one.
    """
    known = list(statuses)
    live = newest_live(known)
    if live is not None and (again or shown is None or not same(shown, live)):
        return live
    newest = live.generation if live is not None else 0
    coming = (status for status in known if status.state in COMING and status.generation > newest)
    return max(coming, key=lambda status: status.generation, default=None)


def same(one: GenerationStatus, other: GenerationStatus) -> bool:
    """Whether both are of one generation with the same tables, in whatever states."""
    return (one.generation, one.tables, one.aliases, one.fingerprint) == (other.generation, other.tables, other.aliases, other.fingerprint)
