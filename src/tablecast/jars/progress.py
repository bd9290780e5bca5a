"""Tells a person how far the fetching is: a bar on a terminal, a few calm lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tablecast.jars.ivy import Event, JarLoaded
from tablecast.jars.lock import LockedJar

LINE_SECONDS = 5.0
MB = 1_000_000


class FetchProgress:
    """`expected` are the jars to come. Each Ivy event moves it on."""

    def __init__(self, expected: tuple[LockedJar, ...], console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._sizes = {jar.name: jar.size for jar in expected}
        self._modules = self._jars = self._bytes = 0
        self._said = time.monotonic()
        self._bar = _bar(self._console) if self._console.is_terminal else None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
            self._task = self._bar.add_task("jars", total=self._total, what="resolving")
        else:
            self._say(f"fetching {len(self._sizes)} jars ({self._total / MB:.0f} MB)")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()
        elif error is None:
            self._say(f"jars complete: {len(self._sizes)} ({self._total / MB:.0f} MB)")

    def report(self, event: Event) -> None:
        if isinstance(event, JarLoaded):
            self._jars += 1
            self._bytes += self._sizes.get(event.name, 0)
        else:
            self._modules += 1
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=self._bytes, what=self._what())
        elif time.monotonic() - self._said >= LINE_SECONDS:
            self._say(f"{self._what()}, {self._bytes / MB:.0f} of {self._total / MB:.0f} MB")

    @property
    def _total(self) -> int:
        return sum(self._sizes.values())

    def _what(self) -> str:
        return f"{self._jars} of {len(self._sizes)} jars" if self._jars else f"{self._modules} modules resolved"

    def _say(self, text: str) -> None:
        self._said = time.monotonic()
        self._console.print(f"[jars] {text}", markup=False, highlight=False, soft_wrap=True)


def _bar(console: Console) -> Progress:
    columns = (TextColumn("jars: {task.fields[what]}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, refresh_per_second=5)
