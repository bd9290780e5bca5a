"""The progress of a fill: one count over all queries, that never goes back, whatever Spark has forgotten."""

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JJavaError

from tablecast.kafka.status import Progress
from tablecast.pipeline import progress as module
from tablecast.pipeline.progress import FillProgress, StageCount


class ScriptedSession:
    """Stages with their counts, by job group. A stage without counts is not known to Spark."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[int, dict[str, int]]] = {}
        self.sparkContext = self
        store = SimpleNamespace(lastStageAttempt=self._stage)
        self._jsc = SimpleNamespace(sc=lambda: SimpleNamespace(statusStore=lambda: store))

    def setJobGroup(self, group: str, _: str) -> None:  # noqa: N802
        self.groups.setdefault(group, {})

    def statusTracker(self) -> "ScriptedSession":  # noqa: N802
        return self

    def getJobIdsForGroup(self, group: str) -> list[str]:  # noqa: N802
        return [group]

    def getJobInfo(self, job: str) -> object:  # noqa: N802
        return SimpleNamespace(stageIds=list(self.groups[job]))

    def _stage(self, stage: int) -> object:
        counts = next(stages[stage] for stages in self.groups.values() if stage in stages)
        if not counts:
            raise Py4JJavaError("no such element", SimpleNamespace(_target_id="o1"))
        return SimpleNamespace(
            inputRecords=lambda: counts.get("inputRecords", 0),
            shuffleWriteRecords=lambda: counts.get("shuffleWriteRecords", 0),
            shuffleReadRecords=lambda: counts.get("shuffleReadRecords", 0),
        )


def records(session: ScriptedSession, counted: StageCount) -> int:
    return counted.records(cast("Any", session), "g")


def test_a_record_is_done_half_when_it_is_shuffled_and_half_when_the_next_stage_has_it() -> None:
    session, counted = ScriptedSession(), StageCount(keyed=True)
    session.groups["g"] = {1: {"inputRecords": 100, "shuffleWriteRecords": 100}, 2: {"shuffleReadRecords": 40}, 3: {}}
    assert records(session, counted) == 70


def test_without_a_key_it_is_done_when_it_is_read() -> None:
    session, counted = ScriptedSession(), StageCount(keyed=False)
    session.groups["g"] = {1: {"inputRecords": 60}}
    assert records(session, counted) == 60


def test_what_a_forgotten_stage_counted_last_still_counts() -> None:
    session, counted = ScriptedSession(), StageCount(keyed=False)
    session.groups["g"] = {1: {"inputRecords": 60}, 2: {"inputRecords": 10}}
    assert records(session, counted) == 70
    session.groups["g"] = {1: {}, 2: {"inputRecords": 20}}
    assert records(session, counted) == 80
    session.groups["g"] = {2: {"inputRecords": 25}}
    assert records(session, counted) == 85


def test_several_queries_are_one_count_that_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TELL_SECONDS", 0.001)
    session, told = ScriptedSession(), list[Progress]()
    filled = FillProgress(cast("Any", session), 300, told.append)

    def wait_for(done: int) -> None:
        pause = threading.Event()
        for _ in range(5000):
            if told and told[-1].done == done:
                return
            pause.wait(0.001)
        raise AssertionError(told)

    with filled.of_query("one", 100, keyed=False):
        session.groups["one"] = {1: {"inputRecords": 90}}
        wait_for(90)
    with filled.of_query("two", 200, keyed=True):
        wait_for(100)
        session.groups["two"] = {2: {"shuffleWriteRecords": 200}, 3: {"shuffleReadRecords": 900}}
        wait_for(300)
    assert {progress.of for progress in told} == {300}
    assert [progress.done for progress in told] == sorted({progress.done for progress in told})
