"""An export on its way to a client: at most so many at once, each piece made when the one before is sent, and an end when nobody takes it."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tablecast.errors import ExportsTooMany

log = logging.getLogger(__name__)


class Desks:
    """Where exports are made."""

    def __init__(self, limit: int) -> None:
        self.busy = 0
        self._limit = limit

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One of them, while the context lasts. Raises ExportsTooMany."""
        if self.busy >= self._limit:
            raise ExportsTooMany(self._limit)
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1


class Download(Response):
    """Sends `pieces`, which are made in a thread. Where the client goes away, or takes nothing for `patience` seconds, no further one is made, and
    what was sent is without its end, which a client sees: it is never taken for the whole. `leave` is called when it is over."""

    def __init__(self, pieces: Iterator[bytes], headers: Mapping[str, str], media_type: str, patience: float, leave: Callable[[], None]) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self._pieces = pieces
        self._patience = patience
        self._leave = leave
        self.init_headers({**headers, "cache-control": "no-store"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.create_task(_gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while not gone.done() and (piece := await asyncio.to_thread(next, self._pieces, None)) is not None:
                async with asyncio.timeout(self._patience):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            path = scope.get("path")
            log.info("[server] the client of %s took nothing for %g s, and its export is given up", path, self._patience, extra={"event": "stalled"})
        finally:
            gone.cancel()
            self._leave()


async def _gone(receive: Receive) -> None:
    """Until the client is."""
    while (await receive())["type"] != "http.disconnect":
        pass
