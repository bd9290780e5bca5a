"""Log lines: as people read and grep them, or as JSON for programs that collect them."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; anything else was given by `extra`."""


def set_up_logging(format: str, stream: TextIO = sys.stdout) -> None:
    """From now on the root logger writes there, "text" or "json", unless somebody has set it up already."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLine() if format == "json" else logging.Formatter("%(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("py4j").setLevel(logging.WARNING)


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
        return json.dumps(told, ensure_ascii=False, default=str)
