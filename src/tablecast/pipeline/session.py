"""The Spark session."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata, resources
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tablecast.errors import PackagesMissing, SparkUnusable
from tablecast.jars import Jars
from tablecast.pipeline.checkpoints import is_uri
from tablecast.pipeline.slots import LEAST_LOCAL
from tablecast.settings import SPARK_SECTION, PipelineSettings, Settings, is_secret

MOST_STATE_PARTITIONS = 4
EXECUTOR_JAVA = "spark.executor.extraJavaOptions"

REQUIRED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
REDACTED = {
    # By name or by content of an option. Spark's own default knows neither login lines nor keys.
    "spark.redaction.regex": r"(?i)secret|password|passphrase|token|credential|access[.]?key|jaas|keystore|private.?key",
    # In plans as text.
    "spark.redaction.string.regex": r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----|LoginModule required [^;]*;",
}
"""What Spark shows of nobody: in its log, its plans, its web page and its event log. A user can add to it, and take nothing away."""
KAFKA_CACHES = ("consumer.cache", "consumer.fetchedData.cache", "producer.cache")
TUNED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    "spark.sql.streaming.metricsEnabled": "false",
    # A count of the keys costs one more look-up at each record, and nobody asks for it; blocks of state that fit into memory are decompressed once.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB": "32",
    # The state of a generation that is gone is given back at the next maintenance; what Spark remembers of its plans only fills the heap.
    "spark.sql.streaming.stateStore.maintenanceInterval": "15s",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    # Likewise its Kafka clients and what they have fetched, which Spark would keep for five and ten minutes. Those of a running query are in use.
    **{f"spark.kafka.{cache}.timeout": "30s" for cache in KAFKA_CACHES},
    **{f"spark.kafka.{cache}.evictorThreadRunInterval": "10s" for cache in KAFKA_CACHES},
    # Else each expression that is built asks Java a dozen times more, for where in Python it was built: seconds at every start of a query.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.dataFrameQueryContext.enabled": "false",
    # Generations of one catalogue run the same generated code: what is compiled for one need not be compiled, and made quick, for the next.
    "spark.sql.codegen.cache.maxEntries": "1000",
    "spark.sql.adaptive.enabled": "false",
    # A fill aggregates records that are sorted already; hashing them first would only sort them again.
    "spark.sql.execution.useObjectHashAggregateExec": "false",
    # Kafka is not among them: the older way of writing to it reports no metrics.
    "spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text",
}
CHECKPOINTS_ON_DISK = {
    # On a local disk the other manager starts a process for each file that it renames, which doubles the pause at a checkpoint.
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # How often running tasks tell how many records they have taken: the progress of a fill.
    "spark.executor.heartbeatInterval": "1s",
}
# Java's compiler works on the same cores as the tasks. Told to inline less it is done sooner: a fill in a fresh process takes a sixth less time, and
# one in a process that has long run takes the same.
COMPILE_LESS = ("-XX:MaxInlineLevel=9", "-XX:InlineSmallCode=1500", "-XX:FreqInlineSize=200")
# A tenth less processor time for a fill. Only Java on Linux knows the flag; where the kernel gives no such pages it changes nothing.
HUGE_PAGES = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseTransparentHugePages")
# Spark's Python workers speak Arrow and protobuf; PySpark 4.3 asks for pandas too before it starts one.
MICROBATCH_PACKAGES = ("pandas", "protobuf", "pyarrow")


def start_session(
    settings: Settings, jars: Jars, properties: Mapping[str, str], to_archive: Path | None = None, slots: int = LEAST_LOCAL
) -> SparkSession:
    """Starts Spark in this process, with `properties` of its Javas. Spark has one session a process: a second call changes nothing.

    With the master "auto" it has so many task `slots`. A local one writes the class archive `to_archive` when its Java ends, if that is given; else
    it uses the one that there is.
    """
    check_packages(settings.pipeline)
    if is_local(settings.pipeline):
        # Else the workers would be of whatever python3 is first on the path, which knows nothing of us.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    told = session_options(settings, jars.spark, properties, jars.archive_flags("spark", to_archive))
    options = {"spark.app.name": "tablecast", "spark.master": _master(settings, slots), **told}
    settings.log_dir.mkdir(parents=True, exist_ok=True)
    complaints = settings.log_dir / "spark-start.log"
    try:
        with _stderr_to(complaints):
            session = _started(options)
    except PySparkException as error:
        lines = complaints.read_text(errors="replace").strip().splitlines()
        raise SparkUnusable(lines[-1] if lines else str(error), f"{complaints} has the whole story.") from error
    session.sparkContext.setLogLevel("WARN")
    for name, value in properties.items():
        SparkContext.setSystemProperty(name, value)
    return session


def _started(options: Mapping[str, str]) -> SparkSession:
    """What Java is started with, everybody on the machine can read among its arguments: secrets are told to it when it runs."""
    public = [(name, value) for name, value in options.items() if not is_secret(f"{SPARK_SECTION}{name}")]
    SparkContext._ensure_initialized(conf=SparkConf().setAll(public))
    return SparkSession.builder.config(map=dict(options)).getOrCreate()


def check_packages(settings: PipelineSettings) -> None:
    """Raises PackagesMissing if a package is not installed that the trigger needs."""
    missing = [name for name in MICROBATCH_PACKAGES if settings.trigger == "microbatch" and not _is_installed(name)]
    if missing:
        raise PackagesMissing('pipeline.trigger = "microbatch"', missing, "microbatch")


def _is_installed(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


@contextmanager
def _stderr_to(file: Path) -> Iterator[None]:
    """What a Java that is started meanwhile complains of goes to the file: warnings that nobody can act on are no part of a calm log."""
    before = os.dup(2)
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(target)


def session_options(settings: Settings, jars: Sequence[Path], properties: Mapping[str, str], flags: Sequence[str]) -> dict[str, str]:
    """What the user says wins over what we tuned, never over what the pipeline cannot do without. `flags` are those of a local Java."""
    options = {**TUNED, "spark.sql.shuffle.partitions": str(local_state_partitions())}
    if settings.pipeline.master == "auto":
        options |= LOCAL | _folders(settings, flags)
        if not is_uri(settings.pipeline.checkpoint_dir or ""):
            options |= CHECKPOINTS_ON_DISK
        options["spark.driver.memory"] = f"{settings.pipeline.driver_memory_mb}m"
    if "spark.jars.packages" not in settings.pipeline.spark:
        options["spark.jars"] = ",".join(str(jar.resolve()) for jar in jars)
    given = settings.pipeline.spark
    if properties and not is_local(settings.pipeline):
        options[EXECUTOR_JAVA] = " ".join([*(f'-D{name}="{value}"' for name, value in properties.items()), given.get(EXECUTOR_JAVA, "")]).strip()
        given = {name: value for name, value in given.items() if name != EXECUTOR_JAVA}
    return options | given | REQUIRED | {name: "|".join(filter(None, (ours, given.get(name)))) for name, ours in REDACTED.items()}


def local_state_partitions() -> int:
    """As many as a session of this machine has, unless the user says otherwise."""
    return min(MOST_STATE_PARTITIONS, os.cpu_count() or 1)


def state_partitions(session: SparkSession) -> int:
    """Partitions of the state. A checkpoint keeps the number that it was made with."""
    return int(session.conf.get("spark.sql.shuffle.partitions") or 1)


def is_local(settings: PipelineSettings) -> bool:
    """Whether Spark runs in this machine's own process."""
    return settings.master == "auto" or settings.master.startswith("local")


def _master(settings: Settings, slots: int) -> str:
    return f"local[{slots}]" if settings.pipeline.master == "auto" else settings.pipeline.master


def _folders(settings: Settings, flags: Sequence[str]) -> dict[str, str]:
    state_dir = settings.pipeline.state_dir.resolve()
    log = (settings.log_dir / "spark.log").resolve()
    config = resources.files("tablecast.pipeline") / "log4j2.properties"
    java = {"log4j2.configurationFile": str(config), "tablecast.log": str(log)}
    options = [*COMPILE_LESS, *HUGE_PAGES, *(f'"{flag}"' for flag in flags), *(f'-D{name}="{value}"' for name, value in java.items())]
    return {
        "spark.local.dir": str(state_dir / "spark"),
        "spark.sql.warehouse.dir": str(state_dir / "spark" / "warehouse"),
        "spark.driver.extraJavaOptions": " ".join(options),
    }
