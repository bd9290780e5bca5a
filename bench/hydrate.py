"""How fast a new generation is filled from a backlog.

python -m bench.hydrate --json
python -m bench.hydrate --json --load small --peer deephaven

Sends the backlog to a broker of its own and starts Tablecast on it, once for each load: `small` is accounts_ui and final_ui with keep last, `all` the
whole default catalogue. Timed from the moment Spark's session is up: `seconds` until every row is in its changelog, `server_seconds` until the server
has them all in its tables. Then every row of every changelog is compared with the truth, and of `small` every row that the server shows. --peer lets
another system fill accounts_ui and final_ui, as `small` has them, from the same topics, timed from the moment it is up: `cold` in a process that has
just started, `warm` once more in it; `ratio` is our rate of the first load to theirs. The last line of standard output is one JSON object; its
messages_per_s is that of the first load. Ends with 0 only if every row was there and right, those of peers too.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from confluent_kafka import TopicPartition

from bench.backlog import Backlog, Truth, numbers_in
from bench.exclusive import machine_to_ourselves
from bench.latency import say
from bench.load import LOADS, Load
from bench.peers.deephaven_viewers import differing
from bench.peers.filling import PEERS
from bench.shown import rows_shown
from bench.stack import KEY, SESSION_UP, Stack, all_on, jars_folder
from tablecast.jars import Jars
from tablecast.kafka.admin import Topics
from tablecast.kafka.broker import EmbeddedBroker
from tablecast.kafka.clients import make_consumer
from tablecast.kafka.names import changelog_topic
from tablecast.settings import KafkaSettings, Settings

FILL_SECONDS = 900.0
FILLED = re.compile(r"\[orchestrator\] generation \d+: filled")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hydrate", description="How fast a generation is filled from a backlog.")
    parser.add_argument("--messages", type=int, default=2_000_000, help="users and accounts together (default: %(default)s)")
    parser.add_argument("--keys", type=int, default=100_000, help="different users (default: %(default)s)")
    parser.add_argument("--load", action="append", choices=LOADS, help="only this one (default: each)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, as in pipeline.driver_memory_mb=4096")
    parser.add_argument("--peer", action="append", choices=PEERS, default=[], help="another system on the same topics in the same run")
    parser.add_argument("--json", action="store_true", help="the result as one line of JSON")
    given = parser.parse_args(arguments)
    settings = dict(setting.split("=", 1) for setting in given.set)
    for peer in given.peer:
        PEERS[peer].fetch(say)
    with machine_to_ourselves(say), tempfile.TemporaryDirectory(prefix="tablecast-bench-") as folder:
        report = measure(Backlog(given.messages, given.keys), given.load or list(LOADS), settings, Path(folder), given.peer)
    print(json.dumps(report) if given.json else json.dumps(report, indent=2))
    return 0 if not any(part["wrong"] for part in (*report["loads"].values(), *report["peers"].values())) else 1


def measure(backlog: Backlog, loads: Sequence[str], settings: Mapping[str, str], folder: Path, peers: Sequence[str] = ()) -> dict[str, Any]:
    jars = jars_folder()
    own = Settings().replaced("pipeline", state_dir=folder / "broker", jars=jars)
    with EmbeddedBroker(own, Jars(jars)) as broker:
        backlog.send(broker.kafka, say)
        truth = Truth(backlog)
        reports = {name: _filled(LOADS[name], backlog, broker.kafka, settings, folder / name, jars, truth) for name in loads}
        theirs = {name: PEERS[name].filled(broker.kafka, backlog, truth, folder / name, say) for name in peers}
    totals = {name: reports[loads[0]][name] for name in ("seconds", "messages_per_s")}
    whole = {"loads": reports, "peers": theirs, "ratio": {name: ratio(totals, peer) for name, peer in theirs.items()}, "settings": dict(settings)}
    return {"bench": "hydrate", "messages": backlog.messages, "keys": backlog.keys, **totals, **whole}


def ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Above 1 we are faster."""
    return {state: round(ours["messages_per_s"] / theirs[state]["messages_per_s"], 2) for state in ("cold", "warm")}


def _filled(
    load: Load, backlog: Backlog, kafka: KafkaSettings, settings: Mapping[str, str], folder: Path, jars: Path, truth: Truth
) -> dict[str, Any]:
    folder.mkdir()
    (folder / "tablecast.toml").write_text(load.catalogue)
    own = {**all_on(kafka.servers), "changelog.prefix": load.name}
    say(f"{load.name}: starting orchestrator and server")
    with Stack(folder, jars, "run", {**own, **settings}, {"TABLECAST_SERVER_PSK": KEY}) as stack:
        stack.log.wait_for(SESSION_UP, FILL_SECONDS)
        up = time.monotonic()
        stack.log.wait_for(FILLED, FILL_SECONDS)
        filled = time.monotonic() - up
        say(f"{load.name}: filled {backlog.messages / filled:,.0f} messages a second")
        stack.wait_until_open(FILL_SECONDS)
        expected = {table: truth.rows(table, load.keep_last) for table in load.tables}
        for table, rows in expected.items():
            stack.wait_for_rows(table, len(rows), FILL_SECONDS)
        served = time.monotonic() - up
        shown = sum(differing(rows_shown(stack, table), rows) for table, rows in expected.items()) if load.keep_last else None
    say(f"{load.name}: comparing every row with the truth")
    wrong = {table: _wrong(table, changelog_topic(load.name, table, 1), kafka, rows) for table, rows in expected.items()}
    return {
        "tables": list(load.tables),
        "rows": sum(map(len, expected.values())),
        "seconds": round(filled, 2),
        "messages_per_s": round(backlog.messages / filled),
        "server_seconds": round(served, 2),
        "server_messages_per_s": round(backlog.messages / served),
        "wrong": sum(wrong.values()) + (shown or 0),
        "server_wrong": shown,
    }


def _wrong(table: str, topic: str, kafka: KafkaSettings, expected: Mapping[str, tuple[int, int | None]]) -> int:
    """How many rows of the changelog differ from the truth, or are missing in it. A batch job writes each row once."""
    consumer = make_consumer(kafka, {"group.id": "hydrate", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    decode, missing, wrong = msgspec.json.decode, set(expected), 0
    end = Topics(kafka).end_offsets(topic)[0]
    try:
        position = 0
        while position < end:
            for record in consumer.consume(10_000, 1.0):
                position = (record.offset() or 0) + 1
                row_id = (record.key() or b"").decode()
                missing.discard(row_id)
                wrong += numbers_in(table, decode(record.value() or b"{}")) != expected.get(row_id)
    finally:
        consumer.close()
    return wrong + len(missing)


if __name__ == "__main__":
    sys.exit(main())
