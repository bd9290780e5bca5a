"""A query is started when it is due, again when it failed, and given up when that is of no use."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from tablecast.orchestrator import keeper as module
from tablecast.orchestrator.keeper import STUBBORN, Keeper
from tablecast.pipeline.realtime import OBSERVED, OUT_OF_HISTORY


class Progress:
    def __init__(self, batch: int, out: int | None) -> None:
        self.runId = "run"
        self.batchId = batch
        self.observedMetrics = {} if out is None else {OBSERVED: {OUT_OF_HISTORY: out}}


class Query:
    """Runs until `error` is set."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.lastProgress: Progress | None = None

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self.error is None

    def exception(self) -> str | None:
        return self.error

    def stop(self) -> None:
        self.error = "stopped"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_a_failed_query_is_started_again_with_backoff_and_its_reason_is_told_once(clock: Clock) -> None:
    queries: list[Query] = []
    kept = Keeper("q", lambda: queries.append(Query()) or queries[-1])  # type: ignore[func-returns-value,return-value,arg-type]
    assert kept.tend() is None
    assert kept.running
    queries[0].error = "it broke\nat some place"
    assert kept.tend() == "it broke"
    assert kept.tend() is None
    assert (kept.reason, len(queries)) == ("it broke", 1)
    clock.now += 1.0
    assert kept.tend() is None
    assert (kept.reason, len(queries)) == (None, 2)


def test_one_that_cannot_even_be_started_is_tried_again_and_at_last_given_up(clock: Clock) -> None:
    def start() -> Query:
        raise PySparkException("Kafka is away")

    kept = Keeper("q", start)  # type: ignore[arg-type]
    reasons = []
    while not kept.lost:
        reasons.append(kept.tend())
        clock.now += 30.0
    assert reasons == ["Kafka is away"] * STUBBORN
    assert kept.tend() is None


def test_one_that_kafka_does_not_let_in_is_tried_for_as_long_as_it_takes(clock: Clock) -> None:
    def start() -> Query:
        raise PySparkException("org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed")

    kept = Keeper("q", start)  # type: ignore[arg-type]
    for _ in range(3 * STUBBORN):
        assert kept.tend() is not None
        clock.now += 30.0
    assert not kept.lost


def java_error(text: str) -> Py4JJavaError:
    """One that PySpark has no name for, as py4j brings it."""
    gateway = SimpleNamespace(send_command=lambda _: f"ysAn error occurred while calling o1.start.\\n: {text}\\n\\tat org.apache.spark")
    return Py4JJavaError(
        "An error occurred while calling o1.start.\n", SimpleNamespace(_target_id="o1", _gateway_client=gateway, toString=lambda: text)
    )


def test_a_full_disk_or_an_unreadable_checkpoint_is_a_failure_like_any_other(clock: Clock) -> None:
    def start() -> Query:
        raise java_error("java.io.IOException: No space left on device")

    kept = Keeper("q", start)  # type: ignore[arg-type]
    assert kept.tend() == "java.io.IOException: No space left on device"
    assert kept.reason == "java.io.IOException: No space left on device"


def test_a_java_that_is_gone_ends_the_orchestrator(clock: Clock) -> None:
    def start() -> Query:
        raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(Py4JNetworkError):
        Keeper("q", start).tend()  # type: ignore[arg-type]


def test_a_query_that_fails_while_it_is_stopped_is_stopped(clock: Clock) -> None:
    def stop() -> None:
        raise java_error("java.util.concurrent.TimeoutException")

    kept = Keeper("q", lambda: SimpleNamespace(isActive=True, stop=stop))  # type: ignore[arg-type,return-value]
    kept.tend()
    kept.stop()
    assert not kept.running


def test_lost_records_are_not_waited_for(clock: Clock) -> None:
    query = Query()
    kept = Keeper("q", lambda: query)  # type: ignore[arg-type,return-value]
    kept.tend()
    query.error = "[KAFKA_DATA_LOSS.X] gone"
    kept.tend()
    assert kept.lost


def test_what_falls_out_of_the_history_is_counted_once_a_batch(clock: Clock) -> None:
    query = Query()
    kept = Keeper("q", lambda: query)  # type: ignore[arg-type,return-value]
    kept.tend()
    for batch, out in ((0, 5), (0, 5), (1, 2), (2, None)):
        query.lastProgress = Progress(batch, out)
        clock.now += 10.0
        kept.tend()
    assert kept.out_of_history == 7
