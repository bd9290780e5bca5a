"""The file that says where the queries of a generation begin."""

from pathlib import Path

import pytest

from tablecast.orchestrator import spans
from tablecast.pipeline.checkpoints import LocalFolder
from tablecast.pipeline.query import Span

SPANS = {"users": Span({0: 1, 1: 2}, {0: 5, 1: 6})}


def test_it_is_read_as_it_was_saved_and_nothing_else_is_left(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path / "g1")
    spans.save(SPANS, folder)
    assert spans.read(folder) == SPANS
    assert spans.is_readable(folder)
    assert [file.name for file in (tmp_path / "g1").iterdir()] == [spans.FILE]


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"users": {}}', '{"users": 7}', '{"users": {"begin": {"x": 1}, "end": {}}}'])
def test_one_that_is_absent_or_broken_is_not_gone_on_with(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / spans.FILE).write_text(text)
    assert not spans.is_readable(LocalFolder(tmp_path))
