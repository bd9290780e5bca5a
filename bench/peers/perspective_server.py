"""A table of the joined rows, served by Perspective. Runs in a virtualenv of its own, so it imports nothing of ours; bench.peers.perspective_socket
starts it.

python perspective_server.py SERVERS    reads the topics users and accounts from there, and prints the port of its WebSocket
"""

import asyncio
import json
import os
import sys
import threading
from typing import Any

import perspective  # type: ignore[import-not-found]
from confluent_kafka import Consumer, TopicPartition
from perspective.handlers.tornado import PerspectiveTornadoHandler  # type: ignore[import-not-found]
from tornado.httpserver import HTTPServer  # type: ignore[import-not-found]
from tornado.netutil import bind_sockets  # type: ignore[import-not-found]
from tornado.web import Application  # type: ignore[import-not-found]

SCHEMA = {"userId": "string", "name": "string", "email": "string", "age": "integer", "accountType": "string", "balance": "float"}
NO_ACCOUNT = {"accountType": None, "balance": None}


class Socket(PerspectiveTornadoHandler):  # type: ignore[misc]
    """Its handler leaves TCP's delay of small messages on."""

    def open(self) -> None:
        super().open()
        self.set_nodelay(True)


async def main(servers: str) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    engine = perspective.Server()
    table = engine.new_local_client().table(SCHEMA, index="userId", name="final_ui")
    sockets = bind_sockets(0, "127.0.0.1")
    HTTPServer(Application([(r"/websocket", Socket, {"perspective_server": engine})])).add_sockets(sockets)
    threading.Thread(target=follow, args=(servers, table), daemon=True).start()
    print(json.dumps({"version": perspective.__version__, "port": sockets[0].getsockname()[1]}), flush=True)
    await asyncio.Event().wait()


def end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def follow(servers: str, table: Any) -> None:
    """Updates the table with all that has come, as soon as something has."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "perspective", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0) for topic in ("users", "accounts")])
    last: dict[str | None, dict[str, Any]] = {"users": {}, "accounts": {}}
    while True:
        changed, record = set(), consumer.poll(1.0)
        while record is not None and record.error() is None:
            value = json.loads(record.value() or b"")
            last[record.topic()][value["userId"]] = value
            changed.add(value["userId"])
            record = consumer.poll(0)
        if rows := [{**NO_ACCOUNT, **last["accounts"].get(key, {}), **last["users"][key]} for key in changed if key in last["users"]]:
            table.update(rows)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
