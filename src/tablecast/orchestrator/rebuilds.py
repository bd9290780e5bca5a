"""How often a generation that cannot go on is built anew."""

MOST = 3
WITHIN_SECONDS = 1800.0


class Rebuilds:
    """What makes a query fail again and again may be in its input or its surroundings: then it makes the next generation fail too, and the one
    after it. So only a few are built within a while. When these are spent there is no more, until somebody asks for something."""

    def __init__(self) -> None:
        self.spent = False
        self._begun: list[float] = []

    def may_begin(self, now: float) -> bool:
        """Whether one more is built; it is counted then."""
        self._begun = [begun for begun in self._begun if now - begun < WITHIN_SECONDS]
        self.spent = self.spent or len(self._begun) >= MOST
        if not self.spent:
            self._begun.append(now)
        return not self.spent

    def forget(self) -> None:
        """A person has asked for another generation, and it is live."""
        self.spent, self._begun = False, []

    def told(self, reason: str) -> str:
        """Why a generation does not run, and what to do where nothing more is done by itself."""
        if not self.spent:
            return reason
        return (
            f"{reason} (built anew {MOST} times within {WITHIN_SECONDS / 60:g} minutes, and not again: "
            "mend the cause, then ask for these topics or others by a control message, or restart the orchestrator)"
        )
