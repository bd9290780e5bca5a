"""How far a fill has come, told while it runs."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tablecast.kafka.status import Progress

TELL_SECONDS = 1.0


Tell = Callable[[Progress], None]


class FillProgress:
    """Of all queries of a generation, filled one after another: `of` is how many records they take together. What has been told once is never
    taken back."""

    def __init__(self, session: SparkSession, of: int, tell: Tell) -> None:
        self._session = session
        self._of = of
        self._tell = tell
        self._before = 0
        self._started = time.monotonic()
        self._told = -1

    @contextmanager
    def of_query(self, group: str, records: int, keyed: bool) -> Iterator[None]:
        """While the context lasts, it is told about once a second, in another thread, how far the jobs are that this thread starts."""
        self._session.sparkContext.setJobGroup(group, group)
        counted, ended = StageCount(keyed), threading.Event()
        thread = threading.Thread(target=self._run, args=(group, counted, records, ended), name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self._before += records

    def _run(self, group: str, counted: "StageCount", records: int, ended: threading.Event) -> None:
        while not ended.wait(TELL_SECONDS):
            self.say(self._before + min(records, counted.records(self._session, group)))

    def say(self, done: int) -> None:
        if done > self._told:
            self._told = done
            self._tell(Progress(done, self._of, round(done / (time.monotonic() - self._started))))


class StageCount:
    """How many records the stages of a query's jobs have taken, by their own counts. What a stage counted last is kept: Spark forgets stages."""

    def __init__(self, keyed: bool) -> None:
        """With a key there is a shuffle: a record is done half when it is read and typed, which is when the shuffle takes it, and half when the
        next stage has it. Without one, it is done when it is read."""
        self._keyed = keyed
        self._stages: dict[int, int] = {}

    def records(self, session: SparkSession, group: str) -> int:
        tracker, store = session.sparkContext.statusTracker(), session.sparkContext._jsc.sc().statusStore()
        for job in tracker.getJobIdsForGroup(group):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else ():
                try:
                    self.take(stage, store.lastStageAttempt(stage))
                except Py4JJavaError:
                    # Not begun yet, or forgotten.
                    continue
        counted = sum(self._stages.values())
        return counted // 2 if self._keyed else counted

    def take(self, stage: int, data: Any) -> None:
        self._stages[stage] = data.shuffleWriteRecords() + data.shuffleReadRecords() if self._keyed else data.inputRecords()
