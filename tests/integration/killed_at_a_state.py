"""A fault, put into a stack of processes by Python's own sitecustomize: the orchestrator kills itself as soon as it has announced a state.

States follow each other within milliseconds, so that a kill from outside would mostly come too late to strike the one that was meant.
"""

import os
from pathlib import Path

import tablecast
from tablecast.kafka.status import State

FAULT = """
import os, signal, sys
from pathlib import Path
if "pipeline" in sys.orig_argv:
    from tablecast.orchestrator.stage import Stage
    said = Stage.say
    def say(stage, *statuses, **more):
        said(stage, *statuses, **more)
        armed = Path(__file__).with_name("armed")
        if armed.exists() and armed.read_text() in [status.state for status in statuses]:
            armed.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
    Stage.say = say
"""


class KilledAtAState:
    """Once armed, the next generation that comes to the state is the last word of its orchestrator."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(FAULT)
        self._armed = folder / "armed"
        source = Path(tablecast.__file__).parent.parent
        self.environment = {"PYTHONPATH": os.pathsep.join(map(str, (folder, source)))}

    def arm(self, state: State) -> None:
        part = self._armed.with_suffix(".part")
        part.write_text(state)
        part.replace(self._armed)

    @property
    def struck(self) -> bool:
        return not self._armed.exists()
