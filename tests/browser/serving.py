"""A table server without its siblings, of tables whose changelogs are written by hand: so a test has half a million rows in seconds."""

import signal
import time
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from bench.stack import KEY, Stack, all_on
from tablecast.kafka.broker_files import free_port
from tests.installed import Installed

READY_SECONDS = 30.0
LOOK_SECONDS = 0.02


class Written(Protocol):
    """Where somebody writes what the server reads."""

    @property
    def servers(self) -> str: ...
    @property
    def prefix(self) -> str: ...


class ServerAlone:
    """`tablecast serve` of the installed wheel, at an address that stays the same when it is started again."""

    def __init__(self, installed: Installed, folder: Path, jars: Path, written: Written) -> None:
        port = free_port(but=0)
        self.stack = Stack(
            folder,
            jars,
            "serve",
            {"server.port": port, "changelog.prefix": written.prefix, **all_on(written.servers)},
            {**installed.environment, "PYTHONPATH": ""},
            [str(installed.program)],
        )
        self.stack.url = f"http://127.0.0.1:{port}"

    def start(self, key: str = KEY) -> None:
        self.stack.environment = {**self.stack.environment, "TABLECAST_SERVER_PSK": key}
        self.stack.key = key
        self.stack.start()

    def kill(self) -> None:
        """As kill -9 does it."""
        self.stack.stop(signal.SIGKILL)

    def wait_until_ready(self) -> float:
        """Until it has tables to show, and the moment of that."""
        return self._wait_for({200})

    def wait_until_alive(self) -> float:
        """Until it answers at all, and the moment of that."""
        return self._wait_for({200, 503})

    def _wait_for(self, codes: set[int]) -> float:
        deadline = time.monotonic() + READY_SECONDS
        while self._answer() not in codes:
            assert time.monotonic() < deadline, "\n".join(self.stack.log.lines[-40:])
            time.sleep(LOOK_SECONDS)
        return time.monotonic()

    def _answer(self) -> int | None:
        try:
            with urlopen(f"{self.stack.url}/readyz", timeout=READY_SECONDS) as answer:  # noqa: S310
                return int(answer.status)
        except HTTPError as refused:
            return refused.code
        except (URLError, ConnectionError):
            return None
