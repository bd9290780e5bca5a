"""The keepers of a generation's queries: one for each query, or one and its twin."""

from tablecast.orchestrator.keeper import Keeper


class Crew:
    """Empty until the queries are started. `tend` is to be called often; what it says of itself may be asked in any thread."""

    def __init__(self) -> None:
        self.keepers: list[Keeper] = []

    def tend(self) -> list[str]:
        """Keeps the queries running; the reasons of those that failed since the last call."""
        return [reason for keeper in self.keepers if (reason := keeper.tend()) is not None]

    def failing(self) -> str | None:
        """Why a query has nobody who runs it; None while each has one."""
        return next((str(group[0].reason) for group in self._by_query() if all(keeper.reason for keeper in group)), None)

    def limping(self) -> str | None:
        """Why one of two twins does not run, while the other does: no row is late, until that one fails too."""
        return next((f"{keeper.name} does not run, its twin does: {keeper.reason}" for keeper in list(self.keepers) if keeper.reason), None)

    @property
    def out_of_history(self) -> int:
        """As the keepers have counted. A twin counts the same records again."""
        return sum(max(keeper.out_of_history for keeper in group) for group in self._by_query())

    @property
    def lost(self) -> bool:
        """Whether none of the keepers of a query can go on."""
        return any(all(keeper.lost for keeper in group) for group in self._by_query())

    def held(self) -> list[int]:
        """The number of the query of each keeper that runs one, or will again."""
        return [keeper.query for keeper in list(self.keepers) if not keeper.lost]

    def stop(self) -> None:
        for keeper in self.keepers:
            keeper.stop()
        self.keepers.clear()

    def _by_query(self) -> list[list[Keeper]]:
        groups: dict[int, list[Keeper]] = {}
        for keeper in list(self.keepers):
            groups.setdefault(keeper.query, []).append(keeper)
        return list(groups.values())
