"""The embedded broker: a real Apache Kafka in KRaft mode, from jars, for one machine."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from tablecast.errors import BrokerFailed, BrokerUnreachable, StateDirInUse
from tablecast.jars import Jars
from tablecast.java import find_java
from tablecast.kafka.admin import wait_until_up
from tablecast.kafka.broker_files import Address, choose_address, read_address, write_properties
from tablecast.kafka.broker_java import launch, run_kafka
from tablecast.kafka.broker_place import BrokerPlace
from tablecast.processes.folder_lock import FolderLock, alive
from tablecast.settings import KafkaSettings, Settings

START_SECONDS = 60.0
STOP_SECONDS = 3.0
ORPHAN_SECONDS = 8.0
POLL_SECONDS = 0.1


class EmbeddedBroker:
    """Started and stopped by one process, and gone when that process is gone. Address and data outlive it, in the state folder."""

    def __init__(self, settings: Settings, jars: Jars, to_archive: Path | None = None) -> None:
        """Its Java writes the class archive `to_archive` when it ends, if that is given; else it uses the one that there is."""
        self._settings = settings
        self._to_archive = to_archive
        self._jars = jars
        self._place = BrokerPlace(settings.broker_dir.absolute(), settings.log_dir.absolute())
        self._lock = FolderLock(self._place.folder / ".lock")
        self._process: subprocess.Popen[bytes] | None = None
        self._address: Address | None = None

    @property
    def address(self) -> Address:
        if self._address is None:
            raise ValueError("the broker was not started")
        return self._address

    @property
    def kafka(self) -> KafkaSettings:
        return self.address.kafka

    @property
    def servers(self) -> str:
        return self.kafka.servers

    @property
    def state_dir(self) -> Path:
        return self._settings.pipeline.state_dir

    @property
    def pid(self) -> int | None:
        """Of its Java process."""
        return self._process.pid if self._process else None

    def start(self, timeout: float = START_SECONDS, given_up: Callable[[], bool] = lambda: False) -> None:
        """Returns when clients are served. JavaMissing, StateDirInUse, PortInUse, BrokerFailed with Kafka's reason."""
        java = find_java()
        self._take_folder()
        try:
            self._place.prepare()
            self._address = choose_address(self._place.folder, self._settings.broker.port)
            write_properties(self._place.folder, self._address, self._settings)
            options = (f"-Xmx{self._settings.broker.heap_mb}m", *self._jars.archive_flags("kafka", self._to_archive))
            self._process = launch(java, self._jars, options, self._place, keep_open=(self._lock.fileno(),))
            self._lock.bequeath(self._process.pid)
            run_kafka(self._process, self._place, self._address.cluster)
            self._wait_until_up(timeout, given_up)
        except BaseException:
            self.stop()
            raise

    def stop(self, cap: float = STOP_SECONDS) -> None:
        """Lets Kafka close its logs; after `cap` seconds it is killed. Nothing that was acknowledged is lost either way."""
        process, self._process = self._process, None
        if process:
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with contextlib.suppress(OSError):
                        pipe.close()
            try:
                process.wait(cap)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._lock.release()

    def run(self, stop: threading.Event, on_up: Callable[[KafkaSettings], None] = lambda kafka: None) -> None:
        """Starts, calls `on_up`, and returns after `stop` is set, stopped. BrokerFailed if Kafka ends before."""
        try:
            self.start(given_up=stop.is_set)
            on_up(self.kafka)
            while not stop.wait(POLL_SECONDS):
                code = self._process.poll() if self._process else 0
                if code is not None:
                    raise BrokerFailed(self._place.failure(code), self._place.log)
        except BrokerFailed:
            if not stop.is_set():
                raise
        finally:
            self.stop()

    def _take_folder(self) -> None:
        """The Java of a killed predecessor still holds the folder while it shuts down: that is waited for, a living holder is not."""
        deadline = time.monotonic() + ORPHAN_SECONDS
        while not self._lock.acquire(wait=POLL_SECONDS):
            if alive(self._lock.holder()):
                raise StateDirInUse(self._settings.pipeline.state_dir, self._lock.holder())
            if time.monotonic() >= deadline and alive(self._lock.heir()):
                # Held, and its holder is dead: this is the orphan's id and nobody else's.
                os.kill(self._lock.heir(), signal.SIGKILL)

    def _wait_until_up(self, timeout: float, given_up: Callable[[], bool]) -> None:
        process = self._process
        assert process is not None
        try:
            wait_until_up(self.kafka, timeout, "embedded", given_up=lambda: given_up() or process.poll() is not None)
        except BrokerUnreachable as error:
            code = process.poll()
            raise BrokerFailed("it does not answer" if code is None else self._place.failure(code), self._place.log) from error

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def wait_for_broker(settings: Settings, timeout: float = START_SECONDS) -> KafkaSettings:
    """The changelog Kafka, once it answers: the user's, or the embedded one of this state folder, whoever starts it. BrokerUnreachable."""
    if settings.changelog.kafka:
        wait_until_up(settings.changelog.kafka, timeout, "changelog")
        return settings.changelog.kafka
    deadline = time.monotonic() + timeout
    while True:
        address = read_address(settings.broker_dir)
        if address and _answers(address):
            return address.kafka
        if time.monotonic() >= deadline:
            servers = address.kafka.servers if address else f"the address in {settings.broker_dir}"
            raise BrokerUnreachable("embedded", servers, "tablecast broker, run or demo has not started it")
        time.sleep(POLL_SECONDS)


def _answers(address: Address) -> bool:
    """Whether it is up, and not a stranger on the same port."""
    try:
        return wait_until_up(address.kafka, 1.0, "embedded") == address.cluster
    except BrokerUnreachable:
        return False
