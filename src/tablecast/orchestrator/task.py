"""A step that takes its time, beside everything else."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Task(Generic[Result]):
    """Runs at once in a thread of its own. When it is `done`, it has a `result` or an `error`."""

    def __init__(self, name: str, step: Callable[[], Result]) -> None:
        self.result: Result | None = None
        self.error: Exception | None = None
        self._step = step
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def join(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        # Kept for who started it: a thread has nobody to raise it to.
        try:
            self.result = self._step()
        except Exception as error:
            self.error = error
