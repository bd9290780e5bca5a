"""The truth of bench.swap against that of the pipeline's tests."""

import json
from collections import Counter
from itertools import islice

import pytest

from bench.backlog import numbers_in
from bench.load import LOADS
from bench.pairs import Record, Truth, numbered
from bench.subject import message
from tablecast.configuration import load
from tests.pipeline.model import Sent, truth


@pytest.mark.parametrize("join", ["left", "inner"])
@pytest.mark.parametrize("pair", [0, 1])
def test_it_is_the_truth_of_the_tables(pair: int, join: str) -> None:
    records = [Record(number, key, 1000 + number // 3, 0.0) for number, key in islice(numbered(40), 600)]
    offsets: Counter[str] = Counter()
    sent = []
    for record in [record for record in records if record.pair == pair]:
        value = json.loads(message(record.source, record.number, record.key))
        sent.append(Sent(record.source, record.ts, 0, offsets[record.source], value))
        offsets[record.source] += 1
    expected = truth(load(None, {}, [f"tables.final_ui.join={join}"]).catalog, sent)
    for table in LOADS["all"].tables:
        assert Truth(pair, records).rows(table, join) == [numbers_in(table, cells) for _, cells in expected[table]], table


def test_pairs_and_sources_take_turns() -> None:
    records = [Record(number, key, 0, 0.0) for number, key in islice(numbered(10), 4)]
    assert [(record.pair, record.source) for record in records] == [(0, "users"), (1, "users"), (0, "accounts"), (1, "accounts")]
