"""Waiting for what may still come."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from tablecast.errors import TablecastError, TopicForbidden, TopicMissing
from tablecast.orchestrator.backoff import Backoff

log = logging.getLogger(__name__)

Result = TypeVar("Result")

MENDED_ELSEWHERE = (TopicMissing, TopicForbidden)
"""Somebody creates the topic, or grants the right to it, on the Kafka: then we go on."""


def patiently(step: Callable[[], Result], stop: threading.Event) -> Result | None:
    """The step's result, tried until it succeeds; None if stopped before. Each reason is told once."""
    backoff, told = Backoff(), ""
    while not stop.is_set():
        try:
            return step()
        except TablecastError as error:
            if not (error.transient or isinstance(error, MENDED_ELSEWHERE)):
                raise
            if str(error) != told:
                told = str(error)
                log.warning("[orchestrator] waiting: %s", told)
            stop.wait(backoff.next(time.monotonic()))
    return None
