"""The file that says where the queries of a generation begin."""

from pathlib import Path

import pytest

from tablecast.orchestrator import spans
from tablecast.pipeline.query import Span

SPANS = {"users": Span({0: 1, 1: 2}, {0: 5, 1: 6})}


def test_it_is_read_as_it_was_saved_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "g1" / "spans.json"
    spans.save(SPANS, file)
    assert spans.read(file) == SPANS
    assert spans.is_readable(file)
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"users": {}}', '{"users": 7}', '{"users": {"begin": {"x": 1}, "end": {}}}'])
def test_one_that_is_absent_or_broken_is_not_gone_on_with(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "spans.json"
    if text is not None:
        file.write_text(text)
    assert not spans.is_readable(file)
