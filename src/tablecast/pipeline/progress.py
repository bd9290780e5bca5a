"""How far a Spark job has come, told while it runs."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from tablecast.kafka.status import Progress

TELL_SECONDS = 1.0

Tell = Callable[[Progress], None]


@contextmanager
def told(session: SparkSession, group: str, of: int, tell: Tell) -> Iterator[None]:
    """While the context lasts, `tell` is called in another thread, about once a second, with the progress of the jobs that this thread starts."""
    session.sparkContext.setJobGroup(group, group)
    ended = threading.Event()
    thread = threading.Thread(target=_tell, args=(session, group, of, tell, ended), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(session: SparkSession, group: str, of: int, tell: Tell, ended: threading.Event) -> None:
    started, last = time.monotonic(), -1
    while not ended.wait(TELL_SECONDS):
        done = min(of, _records_done(session, group))
        if done != last:
            last = done
            tell(Progress(done, of, round(done / (time.monotonic() - started))))


def _records_done(session: SparkSession, group: str) -> int:
    """A record is done half when it is read and typed, which is when a shuffle takes it, and half when the next stage has it."""
    stages = session.sparkContext._jsc.sc().statusStore()
    halves = 0
    for job in session.sparkContext.statusTracker().getJobIdsForGroup(group):
        info = session.sparkContext.statusTracker().getJobInfo(job)
        for stage in info.stageIds if info else ():
            data = stages.lastStageAttempt(stage)
            halves += data.shuffleWriteRecords() + data.shuffleReadRecords()
    return halves // 2
