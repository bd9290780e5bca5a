"""V5: the golden replays, on the model of the Python client."""

import json
from pathlib import Path
from typing import Any

import pytest

from tablecast.client.model import WindowModel
from tablecast.wire.messages import Frame, decode_server

REPLAYS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "protocol/golden/replays.json").read_text())


@pytest.mark.parametrize("replay", REPLAYS, ids=lambda replay: replay["name"])
def test_a_replay_gives_its_windows(replay: dict[str, Any]) -> None:
    model = WindowModel(request=replay.get("requests", 1))
    for step in replay["steps"]:
        frame = decode_server(json.dumps(step["frame"]))
        assert isinstance(frame, Frame)
        model.apply(frame)
        window = model.window
        seen = window and {
            "generation": window.generation,
            "total": window.total,
            "offset": window.offset,
            "rows": [list(pair) for pair in window.rows],
        }
        assert seen == step["window"]
