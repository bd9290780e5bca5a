import json
from pathlib import Path
from typing import Any

import pytest

from tablecast.wire.frames import frame_body, frame_head, rows_answer

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "protocol/golden/messages.json").read_text())
FRAMES = [entry["message"] for entry in GOLDEN if entry["message"]["type"] == "frame"]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"revision {frame['revision']}")
def test_a_spliced_frame_is_the_golden_one(frame: dict[str, Any]) -> None:
    rows = [(id, json.dumps(row, ensure_ascii=False).encode()) for id, row in frame["rows"].items()]
    spliced = frame_head(frame["sub"], frame["request"], frame["generation"], frame["revision"]) + frame_body(
        frame["total"], frame["offset"], frame.get("ids"), rows
    )
    assert json.loads(spliced) == frame


def test_the_bytes_of_a_row_are_not_touched() -> None:
    assert frame_body(1, 0, ['a"b'], [('a"b', b'{ "n" : 1e2 }')]) == b'"total":1,"offset":0,"ids":["a\\"b"],"rows":{"a\\"b":{ "n" : 1e2 }}}'


def test_the_answer_over_http() -> None:
    assert rows_answer({"table": "t", "total": 2}, [b'{"n":1}', b'{"n":2}']) == b'{"table":"t","total":2,"rows":[{"n":1},{"n":2}]}'
