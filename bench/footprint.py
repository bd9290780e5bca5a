"""What a stack holds: threads, open files, files in its folder, topics, memory. What grows from swap to swap was never given back."""

import re
import subprocess
import time
from pathlib import Path

import psutil

from bench.stack import Stack
from tablecast.java import find_java
from tablecast.kafka.admin import Topics

SIBLINGS = ("orchestrator", "server")
USED = re.compile(r"(?P<what>heap|Metaspace)\s.*?used (?P<kb>\d+)K")
MIB = 1 << 20
LOOK_SECONDS = 5.0
SETTLE_SECONDS = 90.0
SAME_LOOKS = 4


def settled(stack: Stack) -> dict[str, int]:
    """What is held once Java gives nothing back any more: it does so from time to time, not at once."""
    looks = [footprint(stack)]
    deadline = time.monotonic() + SETTLE_SECONDS
    while len(looks) < SAME_LOOKS or min(look["java_files"] for look in looks[-SAME_LOOKS + 1 :]) < looks[-SAME_LOOKS]["java_files"]:
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_SECONDS)
        looks.append(footprint(stack))
    return looks[-1]


def footprint(stack: Stack) -> dict[str, int]:
    """Java's memory is what is left of its heap after a collection, and its metaspace: what it merely keeps for later is not in use."""
    held = {"topics": len(Topics(stack.kafka).names()), "state_files": _files(stack.state_dir)}
    for name in SIBLINGS:
        process = stack.process_of(name)
        java = next((child for child in process.children(recursive=True) if child.name() == "java"), None)
        held |= _of(name, process, process.memory_info().rss)
        if java is not None:
            held |= _of("java", java, _java_bytes(java.pid))
    return held


def growth(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - count for name, count in before.items()}


def _of(name: str, process: psutil.Process, memory: int) -> dict[str, int]:
    return {f"{name}_threads": process.num_threads(), f"{name}_files": process.num_fds(), f"{name}_mb": memory // MIB}


def _files(state_dir: Path) -> int:
    """Of generations and of Spark. A broker's own are counted as topics: it deletes their files when it likes."""
    return sum(path.is_file() and path.relative_to(state_dir).parts[0] not in ("broker", "logs") for path in state_dir.rglob("*"))


def _java_bytes(pid: int) -> int:
    jcmd = find_java().executable.resolve().with_name("jcmd")
    subprocess.run([jcmd, str(pid), "GC.run"], check=True, capture_output=True)
    told = subprocess.run([jcmd, str(pid), "GC.heap_info"], check=True, capture_output=True, text=True).stdout
    return sum(int(match["kb"]) * 1024 for match in USED.finditer(told))
