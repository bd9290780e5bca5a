"""The join in plain Spark, in micro-batches. bench.peers.spark_micro_batch starts it and reads what it prints.

python -m bench.peers.spark_last_rows SERVERS JARS FOLDER
"""

import json
import sys
import time
from pathlib import Path

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tablecast.jars import Jars
from tablecast.pipeline.session import start_session
from tablecast.processes.lifeline import hold_lifeline
from tablecast.settings import Settings

USER = "userId STRING, name STRING, email STRING, age BIGINT"
ACCOUNT = "userId STRING, accountType STRING, balance DOUBLE"
SLOTS = 4
"""Tasks of a batch: two that read, then two that aggregate."""


def main(servers: str, jars: Path, folder: Path) -> None:
    hold_lifeline()
    session = start_session(Settings().replaced("pipeline", state_dir=folder, jars=jars), Jars(jars), {}, slots=SLOTS)
    writer = last_rows(session, servers).writeStream.outputMode("update").foreachBatch(show)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(processingTime="0 seconds").start()
    print(json.dumps({"version": pyspark.__version__}), flush=True)
    query.awaitTermination()


def last_rows(session: SparkSession, servers: str) -> DataFrame:
    """The last users row of each userId with the last accounts row, if there is one. A row comes whenever a batch has changed it."""
    users = records(session, servers, "users", USER)
    accounts = records(session, servers, "accounts", ACCOUNT)
    both = users.unionByName(accounts, allowMissingColumns=True)
    rows = both.groupBy("userId").agg(newest("users"), newest("accounts"))
    return rows.where("users IS NOT NULL").select("userId", "users.name", "users.email", "users.age", "accounts.accountType", "accounts.balance")


def records(session: SparkSession, servers: str, topic: str, schema: str) -> DataFrame:
    """userId, the parsed value in a column named after the topic, and the place of the record in Kafka's order."""
    stream = session.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", topic)
    parsed = stream.option("startingOffsets", "earliest").load().select(F.from_json(F.col("value").cast("string"), schema).alias(topic), "*")
    return parsed.select(F.col(f"{topic}.userId"), topic, F.struct("timestamp", "partition", "offset").alias("place"))


def newest(source: str) -> Column:
    """What has no place in the order is passed over, so records of the other source are."""
    return F.max_by(source, F.when(F.col(source).isNotNull(), F.col("place"))).alias(source)


def show(batch: DataFrame, number: int) -> None:
    table = batch.toArrow()
    now = time.time()
    rows = list(zip(*(table[name].to_pylist() for name in ("userId", "name", "accountType")), strict=True))
    if rows:
        print(json.dumps({"at": now, "rows": rows}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
