"""The Java process of the embedded broker, which dies with its parent.

py4j's GatewayServer, which PySpark ships, exits at the end of its standard input. That comes when the parent closes the pipe, and also when the
parent is killed with -9, on every Unix; and it is an orderly exit, so Kafka's shutdown hooks run.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from py4j.java_gateway import GatewayParameters, JavaGateway, JavaObject

from tablecast.errors import BrokerFailed
from tablecast.jars import Jars, pyspark_jar
from tablecast.java import Java
from tablecast.kafka.broker_files import DATA, PROPERTIES
from tablecast.kafka.broker_place import BrokerPlace

LOG_CONFIG = Path(__file__).parent / "broker-log4j2.properties"
FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    # Standard output is read for the gateway's port.
    "-XX:+DisplayVMOutputToStderr",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
)


def launch(java: Java, jars: Jars, options: Sequence[str], place: BrokerPlace, keep_open: Sequence[int]) -> "subprocess.Popen[bytes]":
    """A Java with Kafka on its classpath that does nothing yet but watch its standard input."""
    classpath = os.pathsep.join(str(path) for path in (pyspark_jar("py4j"), *jars.kafka))
    logging = (f"-Dlog4j2.configurationFile={LOG_CONFIG.as_uri()}", f"-Dtablecast.log.dir={place.log_dir}")
    main = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
    with place.output.open("wb") as output:
        return subprocess.Popen(
            [str(java.executable), *FLAGS, *options, *logging, "-cp", classpath, *main],
            cwd=place.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            pass_fds=tuple(keep_open),
            # A Ctrl-C in the terminal reaches us alone; we decide when the broker stops.
            start_new_session=True,
        )


def run_kafka(process: "subprocess.Popen[bytes]", place: BrokerPlace, cluster: str) -> None:
    """Formats the data folder unless that was done, and starts Kafka in that Java. Returns before Kafka is up."""
    assert process.stdout is not None
    port, token = process.stdout.readline().strip(), process.stdout.readline().strip()
    process.stdout.close()
    if not token:
        raise BrokerFailed(place.failure(process.wait()), place.output)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=int(port), auth_token=token.decode()))
    try:
        if not (place.folder / DATA / "meta.properties").exists():
            _format(gateway, cluster, place.log)
        _start(gateway)
    finally:
        # Nobody else shall find a door into this Java.
        gateway.shutdown()


def _format(gateway: JavaGateway, cluster: str, log: Path) -> None:
    said = gateway.jvm.java.io.ByteArrayOutputStream()
    arguments = _strings(gateway, "format", "--cluster-id", cluster, "--config", PROPERTIES)
    if gateway.jvm.kafka.tools.StorageTool.execute(arguments, gateway.jvm.java.io.PrintStream(said)) != 0:
        raise BrokerFailed(str(said.toString()).strip().rstrip("."), log)


def _start(gateway: JavaGateway) -> None:
    """Kafka's main blocks until its end, so it gets a Java thread: java.beans makes the Runnable, which py4j cannot do without calls back to us."""
    java = gateway.jvm.java
    arguments = gateway.new_array(java.lang.Object, 1)
    arguments[0] = _strings(gateway, PROPERTIES)
    statement = java.beans.Statement(java.lang.Class.forName("kafka.Kafka"), "main", arguments)
    runnable = java.beans.EventHandler.create(java.lang.Class.forName("java.lang.Runnable"), statement, "execute")
    java.lang.Thread(runnable, "kafka-main").start()


def _strings(gateway: JavaGateway, *values: str) -> JavaObject:
    array = gateway.new_array(gateway.jvm.java.lang.String, len(values))
    for index, value in enumerate(values):
        array[index] = value
    return array
