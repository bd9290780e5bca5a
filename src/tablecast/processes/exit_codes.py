"""What a process of ours says by its exit code."""

import signal

from tablecast.errors import ConfigurationError, InstallationError, PortInUse, StateDirInUse, TablecastError, UntranslatableSetting

FAILED = 1
TERMINAL = 2
"""Starting it again would end the same way: somebody has to change something first."""
LIFELINE_LOST = 3

NEEDS_A_PERSON = (ConfigurationError, InstallationError, PortInUse, StateDirInUse, UntranslatableSetting)


def exit_code(error: TablecastError) -> int:
    return TERMINAL if isinstance(error, NEEDS_A_PERSON) else FAILED


def told(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
