"""A viewer of Perspective's table. Runs in a virtualenv of its own, so it imports nothing of ours; bench.peers.perspective_socket starts it and reads
what it prints.

python perspective_viewer.py URL
"""

import asyncio
import json
import os
import sys
import threading
import time

import pyarrow as pa
from perspective import AsyncClient  # type: ignore[import-not-found]
from tornado.websocket import WebSocketClientConnection, websocket_connect  # type: ignore[import-not-found]

COLUMNS = ("userId", "name", "accountType")


async def main(url: str) -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    socket = await websocket_connect(url)

    async def send(message: bytes) -> None:
        await socket.write_message(message, binary=True)

    client = AsyncClient(send)
    receiving = asyncio.create_task(receive(socket, client))
    table = await client.open_table("final_ui")
    view = await table.view()
    print(json.dumps({"viewing": url}), flush=True)
    await view.on_update(updated, mode="row")
    show(await view.to_arrow())
    await receiving


def end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


async def receive(socket: "WebSocketClientConnection", client: "AsyncClient") -> None:
    while (message := await socket.read_message()) is not None:
        await client.handle_response(message)
    raise ConnectionError("the server has closed the socket")


def updated(port: int, delta: bytes) -> None:
    show(delta)


def show(rows: bytes) -> None:
    table = pa.ipc.open_stream(rows).read_all()
    now = time.time()
    shown = list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))
    print(json.dumps({"at": now, "rows": shown}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
