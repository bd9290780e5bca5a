"""Where an embedded broker works and logs, and what its log says of a failure."""

import re
from pathlib import Path

from tablecast.processes.exit_codes import told

ERROR = re.compile(r"^\S+ (?:ERROR|FATAL) (?P<what>.+)$")
EXCEPTION = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error): (?P<what>.+)$")
LONGEST = 300


class BrokerPlace:
    """One start of a broker. What an earlier start logged is not its failure."""

    def __init__(self, folder: Path, log_dir: Path) -> None:
        self.folder = folder
        self.log_dir = log_dir
        self.log = log_dir / "broker.log"
        self.output = log_dir / "broker.out"
        self._before = 0

    def prepare(self) -> None:
        """To be called before each start."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self._before = self.log.stat().st_size if self.log.exists() else 0

    def failure(self, code: int) -> str:
        """Why Kafka ended, in its own words if it left any: the innermost exception of its last error, else that error, else its exit code."""
        since = "\n".join([*self._log_lines(), *_lines(self.output)]).splitlines()
        errors = [index for index, line in enumerate(since) if ERROR.match(line)]
        after = since[errors[-1] :] if errors else since
        exceptions = [match["what"] for match in map(EXCEPTION.match, after) if match]
        said = [match["what"] for match in map(ERROR.match, after) if match]
        return (exceptions[-1:] or said[-1:] or [f"it ended ({told(code)})"])[0].strip().rstrip(".")[:LONGEST]

    def _log_lines(self) -> list[str]:
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            # A log that was rolled meanwhile begins anew.
            file.seek(self._before if self._before <= self.log.stat().st_size else 0)
            return file.read().decode(errors="replace").splitlines()


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.exists() else []
