"""How a child notices that its supervisor is gone, also by kill -9.

A supervisor gives each child a pipe as its standard input and never writes to it. The kernel closes the pipe when the supervisor dies, and the child
reads the end of it. Nothing needs to be polled, and no process id can be mistaken for another's.
"""

import os
import signal
import threading
import time
from collections.abc import Callable

from tablecast.processes.exit_codes import LIFELINE_LOST

VARIABLE = "TABLECAST_LIFELINE"
CAP_SECONDS = 4.0


def terminate_myself() -> None:
    """What a supervisor's stop would do: the same handlers run."""
    os.kill(os.getpid(), signal.SIGTERM)


def hold_lifeline(stop: Callable[[], None] = terminate_myself, cap: float = CAP_SECONDS) -> bool:
    """To be called once, early in a process's life. Whether our standard input is a lifeline; if so it is watched from now on.

    When it ends, `stop()` is called in a thread of its own, and `cap` seconds later the process ends, however busy it is.
    """
    if os.environ.pop(VARIABLE, "") != "1":
        return False
    lifeline = os.dup(0)
    # Whoever reads standard input from now on, in this process or a child, finds its end and not our lifeline.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(lifeline, stop, cap), name="lifeline", daemon=True).start()
    return True


def _watch(lifeline: int, stop: Callable[[], None], cap: float) -> None:
    while os.read(lifeline, 1024):
        pass
    deadline = time.monotonic() + cap
    threading.Thread(target=stop, name="lifeline-stop", daemon=True).start()
    time.sleep(max(0.0, deadline - time.monotonic()))
    os._exit(LIFELINE_LOST)
