"""The stateful operator of the micro-batch plan: Spark runs it in Python workers, which import this module by name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from tablecast.pipeline.memory import Change, Kept, Memory, Rules, Seed
from tablecast.pipeline.plan import QueryPlan
from tablecast.pipeline.seed import SEED

KEY = StructType([StructField("key", StringType())])
MEMORY = StructType([StructField("memory", BinaryType())])

NO_ORDER = (None, None, None)
PUSHED_OUT = -1
"""The number of no table: such an outcome tells, where a record has its timestamp, how many records were pushed out of the history."""

Fields = Sequence[Any]

_decoder = msgspec.msgpack.Decoder(Memory)


class Processor(StatefulProcessor):
    """Called once a bucket and batch. In: bucket, key, lane, seed (JSON), then the fields of a record: input, ts, p, o, head, bodies, reason, raw.

    Out, flat as `names` says: key, lane, the number of a table, and three records. A record with no table is the one that came in, else they are
    the left and the right one and the place of a change. A key's memory is read and written once a batch; what has no key leaves none behind.
    """

    def __init__(self, plan: QueryPlan, history: int, bodies: Sequence[str], names: Sequence[str]) -> None:
        self.rules = Rules(plan, history)
        self.bodies = tuple(bodies)
        self.names = tuple(names)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._memories = handle.getMapState("memories", KEY, MEMORY)
        self._outcome = Row(*self.names)
        self._no_right = (*NO_ORDER, *(None for _ in self.bodies))

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        keys: defaultdict[str, list[Any]] = defaultdict(list)
        for row in rows:
            _, name, lane, seed, *record = row
            if name is not None:
                keys[name].append((seed, *record))
            if name is None or (record[0] != SEED and self.rules.has_plain[record[0]]):
                yield self._told(name, lane, None, record)
        before = self.rules.pushed_out
        for name, arrived in keys.items():
            yield from self._of_key(name, arrived)
        if pushed_out := self.rules.pushed_out - before:
            yield self._told(None, None, PUSHED_OUT, (None, pushed_out, None, None, None, *(None for _ in self.bodies), None, None))

    def _of_key(self, name: str, arrived: list[Any]) -> Iterator[Row]:
        known = self._memories.getValue((name,))
        memory = _decoder.decode(known[0]) if known is not None else self.rules.blank()
        seeds, records = [], []
        for seed, index, ts, p, o, _, *bodies, _, _ in arrived:
            if index == SEED:
                seeds.append(self._seed(seed))
            else:
                records.append((index, Kept(ts, p, o, tuple(bodies))))
        changes = self.rules.taken(memory, seeds, records)
        self._memories.updateValue((name,), (msgspec.msgpack.encode(memory),))
        # The head is the encoded key, so it is the same in all of them.
        _, _, _, _, _, head, *_ = arrived[0]
        yield from (self._changed(name, head, change) for change in changes)

    def _changed(self, name: str, head: str, change: Change) -> Row:
        left, right = change.left, change.right
        record = (None, *left.order, head, *left.bodies, None, None)
        return self._told(name, None, change.table, record, (*right.order, *right.bodies) if right else None, change.first)

    def _told(
        self, name: str | None, lane: str | None, table: int | None, left: Fields, right: Fields | None = None, first: Fields | None = None
    ) -> Row:
        return self._outcome(name, lane, table, *left, *(right or self._no_right), *(first or NO_ORDER))

    def _seed(self, text: str) -> Seed:
        """Its JSON has no member where a value is null."""
        seed = msgspec.json.decode(text)
        newest = [[self._of_seed(record) for record in seed.get(f"newest{index}", ())] for index in self.rules.inputs]
        firsts = [(first["ts"], first["p"], first["o"]) if (first := seed.get(f"first{index}")) else None for index in self.rules.inputs]
        return Seed(newest, firsts)

    def _of_seed(self, record: dict[str, Any]) -> Kept:
        return Kept(record["ts"], record["p"], record["o"], tuple(record.get(body) for body in self.bodies))
