"""Asks the changelog broker, once a second, whether it is there and which topics it has."""

import threading
from collections.abc import Callable, Iterable

from tablecast.errors import TablecastError
from tablecast.kafka.admin import Topic
from tablecast.server.topics import TopicFinder

WATCH_SECONDS = 1.0


class BrokerWatch:
    """A reader alone cannot tell a quiet broker from a dead one, nor a topic from another one that was created under its name."""

    def __init__(self, finder: TopicFinder, names: Callable[[], Iterable[str]], seen: Callable[[dict[str, Topic] | TablecastError], None]) -> None:
        """`names` says which topics matter now; `seen` gets those that exist, or why that cannot be known. Both are called in its thread."""
        self._finder = finder
        self._names = names
        self._seen = seen
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="broker watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                found = self._finder.find(sorted(set(self._names())))
            except TablecastError as error:
                self._seen(error)
            else:
                self._seen(found)
            self._stopped.wait(WATCH_SECONDS)
