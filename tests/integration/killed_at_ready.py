"""A fault, put into a stack of processes by Python's own sitecustomize: the orchestrator kills itself between `ready` and `live`.

The two are written one right after the other, so that a kill from outside would mostly come too late.
"""

import os
from pathlib import Path

import tablecast

FAULT = """
import os, signal, sys
from pathlib import Path
if "pipeline" in sys.orig_argv:
    from tablecast.orchestrator.stage import Stage
    said = Stage.say
    def say(stage, *statuses, **more):
        said(stage, *statuses, **more)
        if any(status.state == "ready" for status in statuses):
            armed = Path(__file__).with_name("armed")
            if armed.exists():
                armed.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
    Stage.say = say
"""


class KilledAtReady:
    """Once armed, the next generation that is ready is the last word of its orchestrator."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(FAULT)
        self._armed = folder / "armed"
        source = Path(tablecast.__file__).parent.parent
        self.environment = {"PYTHONPATH": os.pathsep.join(map(str, (folder, source)))}

    def arm(self) -> None:
        self._armed.touch()

    @property
    def struck(self) -> bool:
        return not self._armed.exists()
