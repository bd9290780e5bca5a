"""Writes rows to their changelogs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tablecast.kafka.changelog import ORDER_HEADER, VERSION_HEADER, record_bytes, seed_bytes
from tablecast.pipeline import sql
from tablecast.pipeline.sql import Expression
from tablecast.settings import is_secret

# Rows leave almost at once in real time. Two milliseconds in company, and one request at a time, cost the median as much, and make a burst cost few
# requests: without them the broker, not Spark, is what a high rate fills first.
PROMPTLY = {"kafka.linger.ms": "2", "kafka.max.in.flight.requests.per.connection": "1", "kafka.acks": "all", "kafka.compression.type": "none"}
OLDER_WAY = "spark.sql.sources.useV1SourceList"
IN_BULK = {"kafka.linger.ms": "20", "kafka.acks": "all", "kafka.compression.type": "lz4", "kafka.batch.size": "262144"}


def changelog_records(rows: DataFrame) -> DataFrame:
    """Rows (topic, id, value, version, order) as Spark's Kafka sink wants them."""
    headers = sql.filter(
        sql.array(_header(VERSION_HEADER, sql.col("version")), _header(ORDER_HEADER, sql.col("order"))),
        lambda header: header["value"].is_not_null(),
    )
    return sql.select(rows, "topic", sql.col("id").alias("key"), "value", headers.alias("headers"))


def changelog_writer(rows: DataFrame, kafka: Mapping[str, str], row_bytes: int) -> DataStreamWriter:
    options = _options(PROMPTLY, kafka, record_bytes(row_bytes))
    return changelog_records(rows).writeStream.format("kafka").outputMode("update").options(**options)


def write_changelogs(rows: DataFrame, kafka: Mapping[str, str], row_bytes: int) -> bool:
    """Returns when all rows are on the broker. Whether what was observed of them is known: Spark's older way of writing does not tell."""
    options = _options(IN_BULK, kafka, seed_bytes(row_bytes))
    writer = changelog_records(rows).write.format("kafka").mode("append").options(**options)
    hidden = any(map(is_secret, options))
    with _told_to_nobody(rows.sparkSession) if hidden else nullcontext():
        writer.save()
    return not hidden


@contextmanager
def _told_to_nobody(session: SparkSession) -> Iterator[None]:
    """A plan of Spark's newer way of writing shows all options, secrets too, whatever is to be redacted; one of the older way does not."""
    newer = session.conf.get(OLDER_WAY) or ""
    session.conf.set(OLDER_WAY, f"{newer},kafka")
    try:
        yield
    finally:
        session.conf.set(OLDER_WAY, newer)


def _options(manner: Mapping[str, str], kafka: Mapping[str, str], largest: int) -> dict[str, str]:
    return {**manner, "kafka.max.request.size": str(largest), **kafka, "includeHeaders": "true"}


def _header(name: str, value: Expression) -> Expression:
    return sql.struct(sql.lit(name).alias("key"), value.cast("binary").alias("value"))
