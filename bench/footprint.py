"""What a stack holds: threads, open files, files in its folder, topics, memory. What grows from swap to swap was never given back."""

import re
import subprocess
import time
from pathlib import Path

import psutil

from bench.stack import Stack
from bench.usage import MEBI, java_of
from tablecast.java import find_java
from tablecast.kafka.admin import Topics

SIBLINGS = ("orchestrator", "server")
USED = re.compile(r"(?P<what>heap|Metaspace)\s.*?used (?P<kb>\d+)K")
SETTLE_SECONDS = 90.0
"""After so long Java has given back what it does not need: threads of Spark's pools end after a minute, clients of Kafka after forty seconds."""
LOOKS = 5
LOOK_SECONDS = 1.5
"""What is there at one look and not at another, as the client of a question that is just being asked, is not held."""


def settled(stack: Stack) -> dict[str, int]:
    """What is held once nothing is given back any more. A collection comes first: much of what a generation held is let go only by that."""
    _collect(java_of(stack.process_of("orchestrator")))
    time.sleep(SETTLE_SECONDS)
    looks = [footprint(stack)]
    while len(looks) < LOOKS:
        time.sleep(LOOK_SECONDS)
        looks.append(footprint(stack))
    return {name: min(look[name] for look in looks) for name in looks[0]}


def footprint(stack: Stack) -> dict[str, int]:
    """Java's memory is what is left of its heap after a collection, and its metaspace: what it merely keeps for later is not in use. It is weighed
    last, since a collection gives Spark's threads something to do."""
    held = {"topics": len(Topics(stack.kafka).names()), "state_files": _files(stack.state_dir)}
    for name in SIBLINGS:
        held |= _of(name, process := stack.process_of(name), process.memory_info().rss)
    java = java_of(stack.process_of("orchestrator"))
    return held | _of("java", java, 0) | {"java_mb": java_bytes(java.pid) // MEBI}


def growth(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - count for name, count in before.items()}


def _of(name: str, process: psutil.Process, memory: int) -> dict[str, int]:
    return {f"{name}_threads": process.num_threads(), f"{name}_files": process.num_fds(), f"{name}_mb": memory // MEBI}


def _files(state_dir: Path) -> int:
    """Of generations and of Spark. A broker's own are counted as topics: it deletes their files when it likes."""
    return sum(path.is_file() and path.relative_to(state_dir).parts[0] not in ("broker", "logs") for path in state_dir.rglob("*"))


def java_bytes(pid: int) -> int:
    """What is left of the heap after a collection, and the metaspace."""
    _collect(psutil.Process(pid))
    told = subprocess.run([_jcmd(), str(pid), "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return sum(int(match["kb"]) * 1024 for match in USED.finditer(told))


def _collect(java: psutil.Process) -> None:
    subprocess.run([_jcmd(), str(java.pid), "GC.run"], check=True, capture_output=True)


def _jcmd() -> Path:
    return find_java().executable.resolve().with_name("jcmd")
