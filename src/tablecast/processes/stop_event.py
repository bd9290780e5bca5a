"""A signal as an event that threads can wait for."""

import queue
import signal
import threading
from collections.abc import Sequence
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopEvent(threading.Event):
    """`asked` is how many signals came."""

    asked = 0


def stop_event(signals: Sequence[signal.Signals] = SIGNALS) -> StopEvent:
    """Set once one of these signals came. To be called in the main thread.

    The handler fills a SimpleQueue, because setting an Event that the same thread is just beginning to wait for would block for ever.
    """
    asked: queue.SimpleQueue[int] = queue.SimpleQueue()
    event = StopEvent()

    def wait() -> None:
        asked.get()
        event.set()

    def take(number: int, frame: FrameType | None) -> None:
        event.asked += 1
        asked.put(number)

    threading.Thread(target=wait, name="stop-event", daemon=True).start()
    for number in signals:
        signal.signal(number, take)
    return event
