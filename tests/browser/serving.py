"""A table server without its siblings, of a table whose changelog is written by hand: so a test has half a million rows in seconds."""

import signal
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from bench.handmade import Handmade
from bench.stack import KEY, Stack, all_on
from tablecast.kafka.broker_files import free_port
from tests.installed import Installed

READY_SECONDS = 30.0
LOOK_SECONDS = 0.02


class ServerAlone:
    """`tablecast serve` of the installed wheel, at an address that stays the same when it is started again."""

    def __init__(self, installed: Installed, folder: Path, jars: Path, rows: Handmade) -> None:
        self.rows = rows
        port = free_port(but=0)
        self.stack = Stack(
            folder,
            jars,
            "serve",
            {"server.port": port, "changelog.prefix": rows.prefix, **all_on(rows.servers)},
            {**installed.environment, "PYTHONPATH": "", "TABLECAST_SERVER_PSK": KEY},
            [str(installed.program)],
        )
        self.stack.url, self.stack.key = f"http://127.0.0.1:{port}", KEY

    def start(self) -> None:
        self.stack.start()

    def kill(self) -> None:
        """As kill -9 does it."""
        self.stack.stop(signal.SIGKILL)

    def wait_until_ready(self) -> float:
        """Until it has tables to show, and the moment of that."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            assert time.monotonic() < deadline, "\n".join(self.stack.log.lines[-40:])
            time.sleep(LOOK_SECONDS)
        return time.monotonic()

    def _is_ready(self) -> bool:
        try:
            with urlopen(f"{self.stack.url}/readyz", timeout=READY_SECONDS) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (URLError, ConnectionError):
            return False
