"""The join by Bytewax. Runs in a virtualenv of its own, so it imports nothing of ours; bench.peers.bytewax_join starts it.

python bytewax_flow.py SERVERS TOPIC FOLDER    FOLDER gets the recovery database; the rows go to TOPIC
"""

import json
import os
import sys
import threading
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bytewax.operators as op  # type: ignore[import-not-found]
from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage, KafkaSource  # type: ignore[import-not-found]
from bytewax.dataflow import Dataflow  # type: ignore[import-not-found]
from bytewax.recovery import RecoveryConfig, init_db_dir  # type: ignore[import-not-found]
from bytewax.run import cli_main  # type: ignore[import-not-found]

EPOCH = timedelta(seconds=20)
NO_ACCOUNT = {"accountType": None, "balance": None}

Row = dict[str, Any]


def main(servers: str, topic: str, folder: Path) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    recovery = folder / "recovery"
    recovery.mkdir()
    init_db_dir(recovery, 1)
    print(json.dumps({"version": version("bytewax")}), flush=True)
    cli_main(flow(servers, topic), workers_per_process=1, epoch_interval=EPOCH, recovery_config=RecoveryConfig(recovery))


def end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def flow(servers: str, topic: str) -> "Dataflow":
    dataflow = Dataflow("final_ui")
    # A poll for one message returns as soon as there is one; for more it waits until they are there, or a millisecond is over.
    sources = {name: op.input(name, dataflow, KafkaSource([servers], [name], batch_size=1)) for name in ("users", "accounts")}
    sides = [op.map(f"{name}_by_user", source, by_user) for name, source in sources.items()]
    joined = op.join("join", *sides, insert_mode="last", emit_mode="running")
    rows = op.filter_map("row", joined, as_message)
    op.output("rows", rows, KafkaSink([servers], topic, add_config={"linger.ms": "0"}))
    return dataflow


def by_user(message: Any) -> tuple[str, Row]:
    value = json.loads(message.value)
    return value["userId"], value


def as_message(joined: tuple[str, tuple[Row | None, Row | None]]) -> Any:
    """None for an account without a user, which a left join does not show."""
    user_id, (user, account) = joined
    if user is None:
        return None
    return KafkaSinkMessage(user_id.encode(), json.dumps({**NO_ACCOUNT, **(account or {}), **user}).encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
