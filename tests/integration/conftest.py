"""Servers of a pipeline that is written by hand."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_producer
from tablecast.orchestrator.heart import Heart
from tablecast.server.serve import listen, make_program
from tablecast.settings import KafkaSettings, Settings
from tests.integration.by_hand import KEY, PATIENCE, Pipeline, Serving, StartServer

PROGRAM = (
    "import sys; from tablecast.server.serve import serve; from tablecast.settings import *;"
    "serve(Settings.model_validate({'server': {'port': 0, 'psk': sys.argv[3]}, 'changelog': {'prefix': sys.argv[2]}}),"
    " KafkaSettings({'bootstrap.servers': sys.argv[1]}), lambda url: print(url, flush=True))"
)


@pytest.fixture
def make_pipeline() -> Iterator[Callable[[KafkaSettings, str], Pipeline]]:
    hearts: list[Heart] = []

    def make(kafka: KafkaSettings, prefix: str) -> Pipeline:
        pipeline = Pipeline(kafka, prefix, Topics(kafka, "test"), make_producer(kafka, {"linger.ms": 0}))
        hearts.append(Heart(pipeline, lambda: pipeline.failing))
        hearts[-1].start()
        return pipeline

    yield make
    for heart in hearts:
        heart.stop()


@pytest.fixture
def pipeline(broker: EmbeddedBroker, topic_name: Callable[[str], str], make_pipeline: Callable[[KafkaSettings, str], Pipeline]) -> Pipeline:
    return make_pipeline(broker.kafka, topic_name("")[-60:].strip("-."))


@pytest.fixture
def serving() -> Serving:
    """`with serving(pipeline) as url`: a server in this process, on a port of its own."""

    @contextmanager
    def run(pipeline: Pipeline, **server: Any) -> Iterator[str]:
        settings = (
            Settings(kafka=pipeline.kafka).replaced("server", psk=SecretStr(KEY), port=0, **server).replaced("changelog", prefix=pipeline.prefix)
        )
        listener = listen("127.0.0.1", 0)
        urls: queue.Queue[str] = queue.Queue()
        program = make_program(settings, pipeline.kafka, listener, urls.put)
        thread = threading.Thread(target=program.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield urls.get(timeout=PATIENCE)
        finally:
            program.should_exit = True
            thread.join(PATIENCE)
            listener.close()
            assert not thread.is_alive()

    return run


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """A server as a process of its own, and its address. What still runs in the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(pipeline: Pipeline) -> tuple["subprocess.Popen[str]", str]:
        command = [sys.executable, "-W", "error", "-c", PROGRAM, pipeline.kafka.servers, pipeline.prefix, KEY]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        with process:
            process.kill()
