"""Log lines: as people read and grep them, or as JSON for programs that collect them. What a stranger wrote never makes a line of its own."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from tablecast.printable import escaped, escaped_json

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; anything else was given by `extra`."""


def set_up_logging(format: str, stream: TextIO = sys.stdout) -> None:
    """From now on the root logger writes there, "text" or "json", unless somebody has set it up already."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLine() if format == "json" else TextLine())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("py4j").setLevel(logging.WARNING)


class TextLine(logging.Formatter):
    """The message alone, on one line. A trace stands below it, indented: no line of it looks like one of ours."""

    def format(self, record: logging.LogRecord) -> str:
        trace = self.formatException(record.exc_info).split("\n") if record.exc_info else []
        return "\n    ".join(escaped(line) for line in (record.getMessage(), *trace))


class JsonLine(logging.Formatter):
    """One JSON object a line: time (ISO 8601, UTC), level, logger, message, error with its trace where there is one, and the fields of `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        told: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        told |= {name: value for name, value in vars(record).items() if name not in _OWN}
        return escaped_json(json.dumps(told, ensure_ascii=False, default=str))
