"""A process of a peer: it says things in lines of JSON, complains in a file, and ends with us, also when we are killed."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

from bench.stack import StackError

START_SECONDS = 120.0
END_SECONDS = 5.0

Said = dict[str, Any]


@contextmanager
def peer_process(
    command: Sequence[str], log: Path, heard: Callable[[Said], None] = lambda said: None, environment: Mapping[str, str] | None = None
) -> Iterator[Said]:
    """Yields the first object that it prints, which says that it is up; `heard` gets each further one, in a thread.

    Its standard input is a pipe that ends with us: the process has to end then. StackError, with the last lines of its log, when it is not up in time
    or ends before, and in place of a TimeoutError of the caller.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True, cwd=log.parent, env=environment
        )
    assert process.stdout is not None
    first: Future[Said] = Future()
    listener = threading.Thread(target=_listen, args=(process.stdout, first, heard), name=f"heard-{log.stem}")
    listener.start()
    try:
        yield first.result(START_SECONDS)
    except (TimeoutError, EOFError) as error:
        raise StackError(f"{log.stem}: {error or 'not up'}", log.read_text(errors="replace").splitlines()) from error
    finally:
        _end(process)
        listener.join()


def _listen(output: IO[str], first: "Future[Said]", heard: Callable[[Said], None]) -> None:
    """Lines that are no objects are of some library that greets: nothing is said in them."""
    with output:
        for line in output:
            if line.startswith("{"):
                said = json.loads(line)
                if first.done():
                    heard(said)
                else:
                    first.set_result(said)
    if not first.done():
        first.set_exception(EOFError("ended before it was up"))


def _end(process: subprocess.Popen[str]) -> None:
    """Ends its family too: a Java outlives its Python by the time that it takes to notice."""
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []
    if process.stdin:
        process.stdin.close()
    _, left = psutil.wait_procs(family, END_SECONDS)
    for member in left:
        member.kill()
    psutil.wait_procs(left, END_SECONDS)
    process.wait()
