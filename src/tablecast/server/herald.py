"""Says honestly how the feed goes: filling, live or stale, and why."""

import logging
import time
from datetime import UTC, datetime

from tablecast.errors import TablecastError
from tablecast.kafka.status import PULSE_SECONDS
from tablecast.server.filling import Filling
from tablecast.server.follower import StatusFollower
from tablecast.server.hub import Hub

log = logging.getLogger(__name__)

SILENT_SECONDS = 5 * PULSE_SECONDS


class Herald:
    """Knows whether the broker answers. Belongs to the event loop."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._trouble: TablecastError | None = None
        self._since = datetime.now(UTC)

    def observed(self, trouble: TablecastError | None) -> None:
        """`trouble` is why the changelog broker could not be asked just now; None if it answered."""
        before = self._trouble
        if before is not None and trouble is not None and before.code == trouble.code:
            # The same in other words is no news.
            return
        self._trouble = trouble
        if trouble is not None:
            self._since = datetime.now(UTC) if before is None else self._since
            log.warning("[server] %s", trouble, extra={"event": "broker_down", "code": trouble.code})
        elif before is not None:
            log.info("[server] the changelog broker answers again", extra={"event": "broker_up"})

    def report(self, shown: Filling | None, coming: Filling | None, statuses: StatusFollower, lost: str | None) -> None:
        """`lost` is why what is shown has to be read again, None while it has not."""
        if self._trouble is not None:
            self._hub.say("stale", f"{self._trouble.message} (since {self._since:%H:%M:%SZ})")
        elif shown is None:
            self._hub.say("filling", _what_is_awaited(coming, statuses))
        elif lost is not None:
            self._hub.say("stale", f"Generation {shown.number} is being read again: {lost}.")
        elif (silence := _silence(statuses)) is not None:
            self._hub.say("stale", silence)
        else:
            self._hub.say("live")


def _silence(statuses: StatusFollower) -> str | None:
    """Why the rows may be old although the broker answers."""
    if statuses.pulse is None:
        return "The pipeline has not been heard of yet: these are the last rows that it wrote."
    if statuses.pulse.failing is not None:
        return f"A query of the pipeline does not run: {statuses.pulse.failing}"
    quiet = time.monotonic() - statuses.heard
    return f"The pipeline has not been heard of for {quiet:.0f} s." if quiet > SILENT_SECONDS else None


def _what_is_awaited(coming: Filling | None, statuses: StatusFollower) -> str:
    missing = statuses.missing if coming is None else coming.follower.missing
    if missing:
        return f"The topic {missing[0]} does not exist yet."
    if coming is None and statuses.pulse is not None and statuses.pulse.failing is not None:
        return f"No generation is live yet: {statuses.pulse.failing}"
    if coming is None:
        return "No generation is live yet."
    state = coming.follower.status.state
    return f"Generation {coming.number} is being read." if state == "live" else f"Generation {coming.number} is {state}: no generation is live yet."
