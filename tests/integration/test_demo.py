"""A demo whose supervisor is killed. What else becomes of a demo: tests/browser."""

import re
import signal
from pathlib import Path

from bench.stack import Stack

START_SECONDS = 60.0
GONE_SECONDS = 10.0


def test_a_killed_supervisor_leaves_nobody_behind_not_even_spark(jars_dir: Path, tmp_path: Path) -> None:
    with Stack(tmp_path, jars_dir.absolute()) as stack:
        stack.log.wait_for(re.compile(r"\[orchestrator\] Spark .* is up"), START_SECONDS)
        assert any("java" in child.name() for child in stack.process_of("orchestrator").children(recursive=True))
        ending = stack.stop(signal.SIGKILL, grace=GONE_SECONDS)
    assert ending.left == ()
