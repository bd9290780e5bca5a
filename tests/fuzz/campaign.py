"""Tries inputs on a target, a batch at a time, and watches: the time that each takes, what is logged, and what is not given back."""

import faulthandler
import gc
import json
import logging
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil
from hypothesis import HealthCheck, Phase, given, seed, settings

from bench.stack import REPOSITORY

from .targets import Target

BATCH = 500
HANG_SECONDS = 120.0
INPUT_SECONDS = 1.0
"""Of the processor's time, for one input."""
MOST_GROWTH_MIB = 24
MOST_NEW_OBJECTS = 3000
MIB = 1 << 20
REPORT = REPOSITORY / "artifacts" / "fuzz.json"


class Failure(AssertionError):
    """An input that was not taken as it should be: told whole, so that it can be tried again."""

    def __init__(self, value: object) -> None:
        super().__init__(f"{value!r:.4000}")


class Watch(logging.Handler):
    """Keeps what is logged as an error, or with a trace."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.alarms: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or record.exc_info:
            self.alarms.append(logging.Formatter().format(record))


@dataclass
class Campaign:
    """What became of the inputs of one target. `objects` and `rss_mib` are what is held after each batch but the first few."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    objects: list[int] = field(default_factory=list)
    rss_mib: list[int] = field(default_factory=list)

    def run(self, target: Target, inputs: int, seed_: int) -> None:
        """Raises what the target raised, with the smallest input that does so, and AssertionError for what was watched."""
        watch, began, root = Watch(), time.monotonic(), logging.getLogger()
        # Whoever else listens would keep every line until the end.
        others, root.handlers[:] = root.handlers[:], [watch]
        faulthandler.dump_traceback_later(HANG_SECONDS + 0.05 * inputs, exit=True)
        try:
            while self.inputs < inputs:
                self._batch(target, min(BATCH, inputs - self.inputs), seed_ + self.inputs)
                assert watch.alarms == []
                self._weigh()
        finally:
            faulthandler.cancel_dump_traceback_later()
            root.handlers[:] = others
            self.seconds = round(time.monotonic() - began, 1)
        self._compare()

    def _batch(self, target: Target, inputs: int, seed_: int) -> None:
        def one(value: object) -> None:
            began = time.process_time()
            try:
                target.take(value)
            except Exception as error:
                raise Failure(value) from error
            took = time.process_time() - began
            self.inputs += 1
            self.slowest = max(self.slowest, round(took, 3))
            assert took < INPUT_SECONDS, f"it took {took:.2f} s"

        manner = settings(max_examples=inputs, deadline=None, database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
        seed(seed_)(manner(given(target.inputs)(one)))()

    def _weigh(self) -> None:
        gc.collect()
        self.objects.append(len(gc.get_objects()))
        self.rss_mib.append(psutil.Process().memory_info().rss // MIB)

    def _compare(self) -> None:
        """The first quarter of the batches warms caches up, which have their bounds."""
        first = len(self.objects) // 4
        if len(self.objects) - first > 1:
            assert self.objects[-1] - self.objects[first] < MOST_NEW_OBJECTS, self.objects
            assert self.rss_mib[-1] - self.rss_mib[first] < MOST_GROWTH_MIB, self.rss_mib

    def report(self, file: Path = REPORT) -> None:
        """Beside those of the other targets of this run."""
        file.parent.mkdir(exist_ok=True)
        told = json.loads(file.read_text()) if file.exists() else {}
        held = {name: [series[0], series[-1]] if (series := getattr(self, name)) else [] for name in ("objects", "rss_mib")}
        file.write_text(json.dumps({**told, self.name: {**asdict(self), **held}}, indent=2) + "\n")
