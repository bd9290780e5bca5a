"""A signal as an event that threads can wait for."""

import queue
import signal
import threading
from collections.abc import Sequence

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_event(signals: Sequence[signal.Signals] = SIGNALS) -> threading.Event:
    """Set once one of these signals came. To be called in the main thread.

    The handler fills a SimpleQueue, because setting an Event that the same thread is just beginning to wait for would block for ever.
    """
    asked: queue.SimpleQueue[int] = queue.SimpleQueue()
    event = threading.Event()

    def wait() -> None:
        asked.get()
        event.set()

    threading.Thread(target=wait, name="stop-event", daemon=True).start()
    for number in signals:
        signal.signal(number, lambda got, frame: asked.put(got))
    return event
