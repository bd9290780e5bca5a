"""A generation that is being read, and then followed, from its first record until it is let go."""

import threading
from dataclasses import dataclass

from tablecast.server.follower import GenerationFollower
from tablecast.server.reader import TopicReader


@dataclass(frozen=True)
class Filling:
    """A reader in its thread, and what becomes of its records."""

    reader: TopicReader
    follower: GenerationFollower

    @property
    def number(self) -> int:
        return self.follower.status.generation

    def stop(self) -> None:
        """Nothing of it is applied any more; what is there stays."""
        self.follower.abandon()
        self.reader.stop()

    def drop(self) -> None:
        """Stops it and gives its memory back, in a thread: freeing a million rows takes longer than a viewer may wait for the loop."""
        self.stop()
        threading.Thread(target=self._free, name=f"end of generation {self.number}", daemon=True).start()

    def _free(self) -> None:
        self.reader.join()
        self.follower.generation.dismantle()
