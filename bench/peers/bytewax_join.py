"""The join by Bytewax, a streaming engine for Python: from the two topics to a third, which is watched here."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers.environment import python_with
from bench.peers.peer import Peer, newest_user
from bench.peers.process import peer_process
from bench.peers.topic_viewer import watching_topic
from tablecast.kafka.admin import Topics
from tablecast.settings import KafkaSettings

FLOW = Path(__file__).parent / "bytewax_flow.py"
TOPIC = "final_ui"
SETTINGS = (
    'Its own join operator (insert_mode "last", emit_mode "running") from two Kafka sources to a Kafka sink, in one worker; one message a poll, '
    "linger 0, and recovery on a local disk with an epoch of 20 seconds, which is how often Tablecast checkpoints in the same run. "
    "An arrival is counted in a plain Kafka consumer of the topic that it writes to: no server and no socket come after that, which flatters it."
)


@contextmanager
def bytewax_join(kafka: KafkaSettings, folder: Path, say: Callable[[str], None]) -> Iterator[Peer]:
    """Runs until the end of the block. Its recovery database and log are in `folder`."""
    python, newest = python_with("bytewax", ("bytewax[kafka]",), say), newest_user(kafka)
    Topics(kafka, "source").ensure(TOPIC, 1)
    say("starting Bytewax")
    with peer_process([str(python), "-P", str(FLOW), kafka.servers, TOPIC, str(folder)], folder / "bytewax.log") as told:
        yield Peer(told["version"], SETTINGS, lambda: watching_topic(kafka, TOPIC, newest))
