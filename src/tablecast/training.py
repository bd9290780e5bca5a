"""Makes the class archives: everything runs once, on a little data, and each Java writes down which classes it used."""

import contextlib
import json
import logging
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyspark import SparkContext

from tablecast.configuration import Configuration, load
from tablecast.demo.people import People
from tablecast.demo.producer import create_source_topics
from tablecast.jars import Jars
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_producer
from tablecast.orchestrator.blueprint import draw
from tablecast.orchestrator.generation import Generation
from tablecast.pipeline.session import start_session
from tablecast.settings import KafkaSettings, Settings

log = logging.getLogger(__name__)

MESSAGES = 500
WRITE_SECONDS = 60.0
"""How long a Java may take to write its archive at its end."""
JAVAS = ("kafka", "spark")


def make_archives(jars: Jars) -> None:
    """Does nothing where they are there. They only make starts quicker, so a folder that cannot be written is left as it is."""
    wanted = {name: jars.archive(name) for name in JAVAS}
    if all(file.is_file() for file in wanted.values()):
        return
    try:
        wanted["spark"].parent.mkdir(exist_ok=True)
    except OSError as error:
        log.info("[setup] starts will be slower: %s", error)
        return
    log.info("[setup] preparing Java for quick starts (once, about half a minute)")
    with tempfile.TemporaryDirectory(prefix="training-", dir=wanted["spark"].parent) as folder:
        made = {name: Path(folder) / file.name for name, file in wanted.items()}
        _train(jars, Path(folder), made)
        for name, file in made.items():
            file.replace(wanted[name])


def _train(jars: Jars, folder: Path, made: dict[str, Path]) -> None:
    settings = Settings().replaced("pipeline", state_dir=folder / "state", jars=jars.folder)
    broker = EmbeddedBroker(settings, jars, made["kafka"])
    broker.start()
    try:
        _run_pipeline(_configured(folder, jars, broker.kafka), broker.kafka, jars, made["spark"])
    finally:
        broker.stop(WRITE_SECONDS)


def _configured(folder: Path, jars: Jars, kafka: KafkaSettings) -> Configuration:
    """The default catalogue, whatever the user's own is."""
    file = folder / "tablecast.toml"
    file.touch()
    given = {"kafka.bootstrap.servers": kafka.servers, "pipeline.state_dir": folder / "state", "pipeline.jars": jars.folder.absolute()}
    return load(file, {}, [f"{name}={value}" for name, value in given.items()])


def _run_pipeline(configuration: Configuration, kafka: KafkaSettings, jars: Jars, archive: Path) -> None:
    settings = configuration.settings
    create_source_topics(settings)
    _send_samples(settings)
    with _java_ended():
        session = start_session(settings, jars, {}, archive)
        generation = Generation(draw(1, configuration.catalog, settings), session, settings, kafka)
        generation.prepare()
        generation.fill(lambda progress: None)
        generation.start()
        generation.await_marks()
        generation.remove()
        session.stop()


def _send_samples(settings: Settings) -> None:
    producer = make_producer(settings.kafka, {})
    for sample in islice(People(settings.demo.seed, settings.demo.keys).samples(), MESSAGES):
        producer.produce(settings.sources[sample.source].topic, json.dumps(sample.value))
    producer.flush(WRITE_SECONDS)


@contextlib.contextmanager
def _java_ended() -> Iterator[None]:
    """PySpark keeps its Java as long as the process lives; this ends it in good order, and waits for it."""
    yield
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(WRITE_SECONDS)
    SparkContext._gateway = None
