"""What each part of a stack takes: processor time and memory of broker, orchestrator, Spark, server."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from bench.stack import Stack

Parts = Mapping[str, psutil.Process]
MEBI = 1 << 20


def parts_of(stack: Stack) -> Parts:
    """Of a whole stack, which runs its broker itself. Spark's Java is the orchestrator's child, Kafka's the broker's."""
    orchestrator, broker = stack.process_of("orchestrator"), stack.process_of("broker")
    return {
        "supervisor": psutil.Process(stack.process.pid),
        "broker": java_of(broker),
        "broker_python": broker,
        "orchestrator": orchestrator,
        "spark": java_of(orchestrator),
        "server": stack.process_of("server"),
    }


def pipeline_parts(stack: Stack) -> Parts:
    """Of a pipeline whose broker and feed are this process's own."""
    orchestrator = psutil.Process(stack.process.pid)
    spark = java_of(orchestrator)
    us = psutil.Process()
    broker = next(child for child in us.children(recursive=True) if child.name() == "java" and child.pid != spark.pid)
    return {"broker": broker, "orchestrator": orchestrator, "spark": spark, "feed": us}


def java_of(process: psutil.Process) -> psutil.Process:
    """The Java that a process runs."""
    return next(child for child in process.children(recursive=True) if child.name() == "java")


def memory_mb(parts: Parts) -> dict[str, float]:
    return {name: round(process.memory_info().rss / MEBI, 1) for name, process in parts.items()}


@dataclass(frozen=True)
class Used:
    """Processor time by part, and how long it took to take it."""

    cpu_seconds: Mapping[str, float]
    seconds: float

    def micros_each(self, records: int) -> dict[str, float]:
        """By part, of one of so many records."""
        return {name: round(1e6 * spent / records, 1) for name, spent in self.cpu_seconds.items()}

    @property
    def cores(self) -> dict[str, float]:
        return {name: round(spent / self.seconds, 4) for name, spent in self.cpu_seconds.items()}


class Meter:
    """Counts from its making on."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._began = time.monotonic()
        self._before = {name: _cpu(process) for name, process in parts.items()}

    def used(self) -> Used:
        spent = {name: _cpu(process) - self._before[name] for name, process in self._parts.items()}
        return Used(spent, time.monotonic() - self._began)


def used_in(parts: Parts, seconds: float) -> Used:
    meter = Meter(parts)
    time.sleep(seconds)
    return meter.used()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
