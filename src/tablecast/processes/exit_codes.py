"""What a process of ours says by its exit code."""

import signal

from tablecast.errors import ConfigurationError, InstallationError, LeadLost, PortInUse, StateDirInUse, TablecastError, UntranslatableSetting

FAILED = 1
TERMINAL = 2
"""Starting it again would end the same way: somebody has to change something first."""
LIFELINE_LOST = 3
LEAD_LOST = 4
"""An orchestrator that another one has taken over from. Started again it is a standby."""
FILES_CHANGED = 5
"""A file that it read at its start, such as a secret, has other content now. Started again it takes that."""

NEEDS_A_PERSON = (ConfigurationError, InstallationError, PortInUse, StateDirInUse, UntranslatableSetting)


def exit_code(error: TablecastError) -> int:
    if isinstance(error, LeadLost):
        return LEAD_LOST
    return TERMINAL if isinstance(error, NEEDS_A_PERSON) else FAILED


def told(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
