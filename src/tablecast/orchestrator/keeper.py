"""Keeps one query running."""

import logging
import time
from collections.abc import Callable

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from tablecast.orchestrator.backoff import Backoff
from tablecast.orchestrator.reasons import first_line, reason_of
from tablecast.pipeline.realtime import OBSERVED, OUT_OF_HISTORY

log = logging.getLogger(__name__)

# What PySpark has a name for, and what it has none for: a full disk, a checkpoint that cannot be read. Not a Java that is gone: that ends us.
REFUSALS = (PySparkException, Py4JJavaError)
LOST_RECORDS = ("KAFKA_DATA_LOSS", "OffsetOutOfRange", "Some data may have been lost")
LOCKED_OUT = ("AuthenticationException", "AuthorizationException", "LoginException", "OAuthBearer")
"""Kafka does not let us in. Another generation would not be let in either; once that is mended, this one goes on where it was."""
STUBBORN = 6
COUNT_SECONDS = 5.0


class Keeper:
    """Starts a query when it is due and again, with backoff, when it failed. `tend` is to be called often."""

    def __init__(self, name: str, start: Callable[[], StreamingQuery], delay: float = 0.0, query: int = 0) -> None:
        self.name = name
        self.query = query
        """Which of the generation's queries it keeps."""
        self.reason: str | None = None
        """Why it does not run; None while it does."""
        self.lost = False
        """Going on is of no use: records are gone that it did not read yet, or it fails again and again."""
        self._start = start
        self._due = time.monotonic() + delay
        self._backoff = Backoff()
        self._query: StreamingQuery | None = None
        self.out_of_history = 0
        """How many records were pushed out of the history of their key since this keeper began, as far as batches have ended."""
        self._batch: tuple[str, int] | None = None
        self._count_due = 0.0

    @property
    def running(self) -> bool:
        return self._query is not None and bool(self._query.isActive)

    def tend(self) -> str | None:
        """The reason, when it has failed since the last call."""
        query = self._query
        if query is None:
            return self._try_start() if time.monotonic() >= self._due and not self.lost else None
        if query.isActive:
            self._count(query)
            return None
        error = query.exception()
        self._query = None
        text = str(error) if error is not None else "it ended without a reason"
        return self._failed(text, first_line(text))

    def _try_start(self) -> str | None:
        try:
            self._query = self._start()
        except REFUSALS as error:
            return self._failed(str(error), reason_of(error))
        self.reason = None
        return None

    def _failed(self, text: str, reason: str) -> str:
        self._due = time.monotonic() + self._backoff.next(time.monotonic())
        self.lost = any(sign in text for sign in LOST_RECORDS) or (
            self._backoff.failures >= STUBBORN and not any(sign in text for sign in LOCKED_OUT)
        )
        self.reason = reason
        return reason

    def _count(self, query: StreamingQuery) -> None:
        if time.monotonic() < self._count_due:
            return
        self._count_due = time.monotonic() + COUNT_SECONDS
        progress = query.lastProgress
        if progress is not None and self._batch != (batch := (str(progress.runId), progress.batchId)):
            self._batch = batch
            observed = progress.observedMetrics.get(OBSERVED)
            self.out_of_history += int(observed[OUT_OF_HISTORY] or 0) if observed is not None else 0

    def stop(self) -> None:
        if self._query is None:
            return
        try:
            self._query.stop()
        except REFUSALS as error:
            # The others are to be stopped too. One that fails while it ends has ended.
            log.warning("[orchestrator] the query %s ended with an error: %s", self.name, reason_of(error))
        self._query = None
