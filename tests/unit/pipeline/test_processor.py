"""What Spark's Python workers do with the records of a bucket."""

import json
import pickle
import subprocess
import sys
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues

from tablecast.catalog_check import build_catalog
from tablecast.pipeline.plan import plan_queries
from tablecast.pipeline.processor import Processor
from tablecast.pipeline.seed import MARK, SEED
from tablecast.settings import Settings

BODIES = ("body0",)
RECORD = ("input", "ts", "p", "o", "head", *BODIES, "reason", "raw")
NAMES = (
    *("key", "lane", "table"),
    *(f"left_{name}" for name in RECORD),
    *(f"right_{name}" for name in ("ts", "p", "o", *BODIES)),
    *(f"first_{name}" for name in ("ts", "p", "o")),
)
(PLAN,) = plan_queries(build_catalog(Settings())[0])
USERS, ACCOUNTS = PLAN.index("users"), PLAN.index("accounts")
TABLES = [table.name for table in PLAN.tables]


class FakeMemories:
    """The map state of one bucket."""

    def __init__(self) -> None:
        self.values: dict[tuple[str], tuple[bytes]] = {}
        self.getValue = self.values.get
        self.updateValue = self.values.__setitem__


class FakeHandle(StatefulProcessorHandle):
    def __init__(self) -> None:
        self.memories = FakeMemories()

    def getMapState(self, *_: Any) -> Any:  # noqa: N802
        return self.memories


def started(handle: FakeHandle) -> Processor:
    processor: Processor = pickle.loads(pickle.dumps(Processor(PLAN, 64, BODIES, NAMES)))  # noqa: S301
    processor.init(handle)
    return processor


def arrival(index: int, key: str | None, o: int, ts: int = 0, seed: str | None = None, **more: Any) -> Row:
    record = {"input": index, "ts": ts, "p": 0, "o": o, "head": f'"userId":"{key}"', "body0": f'"x":{o}', "reason": None, "raw": None} | more
    return Row(bucket=1, key=key, lane=None if key else "0-0", seed=seed, **record)


def outcomes(processor: Processor, *rows: Row) -> list[dict[str, Any]]:
    told = processor.handleInputRows((1,), iter(rows), TimerValues())
    return [{name: value for name, value in row.asDict().items() if value is not None} for row in told]


def test_a_batch_of_several_keys_is_told_key_by_key_and_remembered() -> None:
    handle = FakeHandle()
    told = outcomes(started(handle), arrival(USERS, "a", 1, ts=5), arrival(ACCOUNTS, "a", 2, ts=6), arrival(USERS, "b", 3, ts=7))
    assert set(handle.memories.values) == {("a",), ("b",)}
    shown = [(row["key"], TABLES[row["table"]], row["left_body0"], row.get("right_body0")) for row in told if "table" in row]
    assert set(shown) == {
        ("a", "final_ui", '"x":1', '"x":2'),
        ("a", "accounts_ui", '"x":2', None),
        ("a", "user_account", '"x":2', '"x":1'),
        ("b", "final_ui", '"x":3', None),
    }
    later = outcomes(started(handle), arrival(ACCOUNTS, "b", 4, ts=8))
    assert ("final_ui", '"x":3', '"x":4') in [(TABLES[row["table"]], row["left_body0"], row.get("right_body0")) for row in later if "table" in row]


def test_each_record_goes_on_as_it_came_for_the_plain_tables() -> None:
    told = outcomes(started(FakeHandle()), arrival(USERS, "a", 1, ts=5))
    assert told[0] == {"key": "a", "left_input": USERS, "left_ts": 5, "left_p": 0, "left_o": 1, "left_head": '"userId":"a"', "left_body0": '"x":1'}


def test_what_has_no_key_goes_on_as_it_came_and_leaves_nothing_behind() -> None:
    handle = FakeHandle()
    told = outcomes(started(handle), arrival(USERS, None, 1, reason="not_json", raw="{"), arrival(MARK, None, 2))
    assert [(row["left_input"], row["lane"], row.get("left_reason"), row.get("left_raw")) for row in told] == [
        (USERS, "0-0", "not_json", "{"),
        (MARK, "0-0", None, None),
    ]
    assert handle.memories.values == {}


def test_a_seed_is_taken_before_the_records_of_its_batch() -> None:
    user = {"ts": 1, "p": 1, "o": 9, "body0": '"x":9'}
    seed = arrival(SEED, "a", 1, seed=json.dumps({"head": '"userId":"a"', f"newest{USERS}": [user]}))
    (change,) = [
        row for row in outcomes(started(FakeHandle()), arrival(ACCOUNTS, "a", 2, ts=6), seed) if row.get("table") == TABLES.index("final_ui")
    ]
    assert (change["left_o"], change["left_head"], change["right_o"]) == (9, '"userId":"a"', 2)


def test_a_worker_imports_little() -> None:
    """A worker starts once for each partition of the state, and again after a failure."""
    program = "import sys, tablecast.pipeline.processor; print(*{name.partition('.')[0] for name in sys.modules}, *sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"confluent_kafka", "pydantic", "starlette", "uvicorn", "pandas"} & set(loaded)
    assert not [name for name in loaded if name.startswith(("tablecast.server", "tablecast.orchestrator", "tablecast.kafka"))]
