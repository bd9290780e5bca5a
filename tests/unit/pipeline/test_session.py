"""What Spark is started with, and what it needs before."""

import re
from importlib import metadata

import pytest

from tablecast.errors import PackagesMissing
from tablecast.pipeline.session import CHECKPOINTS_ON_DISK, REDACTED, check_packages, session_options
from tablecast.settings import PipelineSettings, Settings


def test_micro_batches_without_their_packages_are_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package != "pandas":
            raise metadata.PackageNotFoundError(package)
        return "2"

    monkeypatch.setattr(metadata, "version", version)
    check_packages(PipelineSettings(trigger="realtime"))
    with pytest.raises(PackagesMissing, match=r"are not installed: protobuf, pyarrow\. Install them with pip install 'tablecast\[microbatch\]'"):
        check_packages(PipelineSettings(trigger="microbatch"))


@pytest.mark.parametrize(("checkpoint_dir", "on_disk"), [(None, True), ("checkpoints", True), ("hdfs://name/checkpoints", False)])
def test_the_manager_for_a_local_disk_has_only_checkpoints_that_are_on_one(checkpoint_dir: str | None, on_disk: bool) -> None:
    settings = Settings().replaced("pipeline", checkpoint_dir=checkpoint_dir)
    assert (CHECKPOINTS_ON_DISK.items() <= session_options(settings, [], {}, []).items()) == on_disk


def test_what_is_redacted_can_be_added_to_and_not_taken_from() -> None:
    spark = {"spark.redaction.regex": "mine", "spark.executor.extraJavaOptions": "-Xss4m"}
    options = session_options(Settings().replaced("pipeline", master="spark://host:7077", spark=spark), [], {"allowed": "https://login"}, [])
    assert options["spark.redaction.regex"] == REDACTED["spark.redaction.regex"] + "|mine"
    assert options["spark.redaction.string.regex"] == REDACTED["spark.redaction.string.regex"]
    assert options["spark.executor.extraJavaOptions"] == '-Dallowed="https://login" -Xss4m'


@pytest.mark.parametrize("name", ["kafka.sasl.jaas.config", "kafka.ssl.keystore.key", "kafka.ssl.key.password", "spark.hadoop.fs.s3a.secret.key"])
def test_names_of_secrets_are_redacted(name: str) -> None:
    assert re.search(REDACTED["spark.redaction.regex"], name)


def test_secrets_in_a_plan_are_redacted() -> None:
    plan = 'x -----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY----- y org.x.PlainLoginModule required username="a" password="b"; z'
    assert re.sub(REDACTED["spark.redaction.string.regex"], "***", plan) == "x *** y org.x.Plain*** z"
