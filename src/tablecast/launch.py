"""`run` and `demo`: the programs of Tablecast as siblings under one supervisor, with one calm log."""

import secrets
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import SecretStr

from tablecast.configuration import Configuration
from tablecast.errors import StateDirInUse
from tablecast.jars import fetch
from tablecast.java import find_java
from tablecast.processes.folder_lock import FolderLock
from tablecast.processes.sibling import Sibling, tablecast_command
from tablecast.processes.supervisor import Supervisor, print_line
from tablecast.server.exposure import check_exposure
from tablecast.server.serve import listen
from tablecast.settings import Settings, keys_in

KEY_VARIABLE = "TABLECAST_SERVER_PSK"
READY_POLL_SECONDS = 0.2


def run(configuration: Configuration, passed_on: Sequence[str], environment: Mapping[str, str]) -> int:
    """Orchestrator and server against the user's Kafka, and the embedded broker unless another keeps the changelogs.

    Every sibling gets the arguments `passed_on` and the `environment`, which has what no list of processes shall show.
    """
    settings = configuration.settings
    check_exposure(settings.server)
    port = _free_port(settings)
    niceness = settings.pipeline.niceness
    siblings = _siblings([*passed_on, *_at(port)], environment, niceness, embedded=settings.changelog.kafka is None)
    return _supervise(settings, siblings, [f"open {_address(settings, port)}", "Ctrl-C stops everything"], _address(settings, port))


def demo(configuration: Configuration, passed_on: Sequence[str], environment: Mapping[str, str]) -> int:
    """Everything embedded, sample data included. The key is made up once and kept, unless one is given."""
    settings = configuration.settings
    key = settings.server.psk.get_secret_value() if settings.server.psk else _kept_key(settings.pipeline.state_dir)
    check_exposure(settings.server.model_copy(update={"psk": SecretStr(key)}))
    port = _free_port(settings)
    with_key = {**environment, KEY_VARIABLE: key, f"{KEY_VARIABLE}_FILE": ""}
    siblings = _siblings([*passed_on, *_at(port)], with_key, settings.pipeline.niceness, embedded=True, sources=("--embedded-sources",))
    siblings.append(Sibling("sample", tablecast_command("sample", *passed_on), environment))
    address = _address(settings, port)
    shown = keys_in(SecretStr(key))[0]
    told = [f"open {address}/#key={quote(shown, safe='')}", f"the key is {shown}; Ctrl-C stops everything"]
    return _supervise(settings, siblings, told, address)


def _siblings(passed_on: Sequence[str], environment: Mapping[str, str], niceness: int, embedded: bool, sources: Sequence[str] = ()) -> list[Sibling]:
    broker = [Sibling("broker", tablecast_command("broker", *passed_on), environment)] if embedded else []
    return [
        *broker,
        # While Spark compiles and fills a generation, what is shown must still reach its viewers.
        Sibling("orchestrator", tablecast_command("pipeline", *passed_on, *sources), environment, niceness=niceness),
        Sibling("server", tablecast_command("serve", *passed_on, *sources), environment),
    ]


def _free_port(settings: Settings) -> int:
    """The server's port, found out here, once and at once, instead of by a sibling that dies again and again."""
    with listen(settings.server.host, settings.server.port) as listener:
        port: int = listener.getsockname()[1]
        return port


def _at(port: int) -> list[str]:
    return ["--set", f"server.port={port}"]


def _address(settings: Settings, port: int) -> str:
    return f"{settings.server.scheme}://{settings.server.host}:{port}"


def _supervise(settings: Settings, siblings: Sequence[Sibling], told: Sequence[str], address: str) -> int:
    find_java()
    fetch(settings)
    lock = FolderLock(settings.pipeline.state_dir / "supervisor.lock")
    if not lock.acquire():
        raise StateDirInUse(settings.pipeline.state_dir, lock.holder())
    threading.Thread(target=_announce, args=(address, told), name="announcer", daemon=True).start()
    try:
        return Supervisor(siblings, _say).run()
    finally:
        lock.release()


def _say(line: str) -> None:
    print_line(f"{datetime.now():%H:%M:%S} {line}")


def _announce(address: str, told: Sequence[str]) -> None:
    """Says `told` as soon as there is something to see behind the address."""
    # Nothing is told to the server, and nothing believed of it, but that it is there: whose certificate it has does not matter. To read the
    # certificates of this machine at each look would take a fifth of a core for as long as a first fill lasts.
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    while not _is_ready(f"{address}/readyz", anybody):
        time.sleep(READY_POLL_SECONDS)
    for line in told:
        _say(f"[tablecast] {line}")


def _is_ready(url: str, tls: ssl.SSLContext) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2, context=tls) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _kept_key(state_dir: Path) -> str:
    file = state_dir / "key"
    if not file.exists():
        state_dir.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(12))
    return file.read_text().strip()
