"""The joined rows in a table of Perspective, watched through its WebSocket by its own client in another process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers.environment import python_with
from bench.peers.peer import Peer, newest_user
from bench.peers.process import peer_process
from bench.peers.sightings import Sightings
from tablecast.settings import KafkaSettings

SERVER = Path(__file__).parent / "perspective_server.py"
VIEWER = Path(__file__).parent / "perspective_viewer.py"
PACKAGES = ("perspective-python", "tornado", "confluent-kafka", "pyarrow")
SETTINGS = (
    "It reads no Kafka, so a plain Kafka consumer does, in the same process: it joins last rows in two Python dicts, without a checkpoint, and "
    "updates a table indexed by userId with whatever has come, at once. Served by its Tornado handler with TCP_NODELAY. "
    "An arrival is counted in its own Python WebSocket client, in another process, which has a view of all rows with on_update in mode row: when the "
    "delta is decoded as an Arrow table."
)


@contextmanager
def perspective_socket(kafka: KafkaSettings, folder: Path, say: Callable[[str], None]) -> Iterator[Peer]:
    """Runs until the end of the block. Its logs are in `folder`."""
    python, newest = python_with("perspective-socket", PACKAGES, say), newest_user(kafka)

    @contextmanager
    def watching() -> Iterator[Sightings]:
        seen = Sightings()
        command = [str(python), "-P", str(VIEWER), f"ws://127.0.0.1:{told['port']}/websocket"]
        with peer_process(command, folder / "perspective-viewer.log", seen.heard):
            seen.wait_for(newest)
            yield seen

    say("starting Perspective")
    with peer_process([str(python), "-P", str(SERVER), kafka.servers], folder / "perspective-server.log") as told:
        yield Peer(told["version"], SETTINGS, watching)
