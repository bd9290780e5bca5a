"""Deephaven on the topics users and accounts. Runs in a virtualenv of its own, so it imports nothing of ours; bench.peers.deephaven starts it.

python -P deephaven_server.py KAFKA [JAVA_OPTION...]

Tells by a line of JSON when it is up, then answers each line of JSON by one:
  {"do": "open", "name": NAME, "last": {TOPIC: NUMBER}, "within": SECONDS}
      reads both topics from their beginning into the tables final_ui and accounts_ui + NAME, and answers how long it took until they showed these
      messages, which are the last ones of their topics
  {"do": "rows", "table": TABLE, "file": FILE}
      writes what the table holds now, a line of JSON a row
  {"do": "heap"}
      collects garbage and tells the bytes that are left on Java's heap
Ends when its standard input does.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from deephaven_server import Server  # type: ignore[import-not-found]

FIELDS = {
    "users": {"userId": "string", "name": "string", "email": "string", "age": "int64"},
    "accounts": {"userId": "string", "accountType": "string", "balance": "double"},
}
"""By Deephaven's names of types."""
TELLING = ("userId", "name", "accountType")
POLL_SECONDS = 0.002

Question = dict[str, Any]


def main(kafka: str, options: list[str]) -> None:
    # Deephaven and Java print to standard output too: that goes to standard error, so that there is nothing but answers here.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    questions = _questions()
    started = time.monotonic()
    server = Server(host="127.0.0.1", port=0, jvm_args=["-DAuthHandlers=io.deephaven.auth.AnonymousAuthenticationHandler", *options])
    server.start()
    print(json.dumps({"port": server.port, "version": version("deephaven-server"), "seconds": time.monotonic() - started}), file=answers)
    doing: dict[str, Callable[[Question], dict[str, Any]]] = {"open": lambda question: opened(kafka, question), "rows": written, "heap": heap}
    while True:
        question = json.loads(questions.get())
        try:
            answer = doing[question["do"]](question)
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), file=answers)


def _questions() -> "queue.Queue[str]":
    """Lines of standard input. Its end is ours, at once: nothing here is worth a farewell."""
    questions: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            questions.put(line)
        os._exit(0)

    threading.Thread(target=read, name="questions", daemon=True).start()
    return questions


def opened(kafka: str, question: Question) -> dict[str, Any]:
    """A client finds the tables because they are global variables of the main module."""
    from deephaven.execution_context import get_exec_ctx  # type: ignore[import-not-found]  # noqa: PLC0415
    from deephaven.update_graph import shared_lock  # type: ignore[import-not-found]  # noqa: PLC0415

    began, last = time.monotonic(), question["last"]
    # Under one lock, so that the first records do not keep the tables from being built.
    with shared_lock(get_exec_ctx().update_graph):
        accounts = stream(kafka, "accounts").last_by("userId")
        users = stream(kafka, "users").last_by("userId")
        final = users.natural_join(accounts, on="userId", joins=["accountType", "balance"])
        shown = {"users": (final, "name"), "accounts": (accounts, "accountType")}
        marks = {topic: shown[topic][0].where(f"{shown[topic][1]} == `{number}`") for topic, number in last.items()}
    globals().update({f"accounts_ui{question['name']}": accounts, f"final_ui{question['name']}": final})
    while missing := [topic for topic, mark in marks.items() if mark.size == 0]:
        if time.monotonic() - began > question["within"]:
            raise TimeoutError(f"final_ui has {final.size} rows, accounts_ui {accounts.size}, without the last message of {missing}")
        time.sleep(POLL_SECONDS)
    return {"seconds": time.monotonic() - began, "rows": {"final_ui": final.size, "accounts_ui": accounts.size}}


def stream(kafka: str, topic: str) -> Any:
    """A blink table: it holds only what is new, which is the least work for what is made of it. Its JSON specification reads a third more messages a
    second than its Jackson processor does, in a process that has just started."""
    from deephaven import dtypes  # type: ignore[import-not-found]  # noqa: PLC0415
    from deephaven.stream.kafka import consumer  # type: ignore[import-not-found]  # noqa: PLC0415

    records = consumer.consume(
        {"bootstrap.servers": kafka},
        topic,
        offsets=consumer.ALL_PARTITIONS_SEEK_TO_BEGINNING,
        key_spec=consumer.KeyValueSpec.IGNORE,
        value_spec=consumer.json_spec({field: getattr(dtypes, kind) for field, kind in FIELDS[topic].items()}),
        table_type=consumer.TableType.blink(),
    )
    return records.view(list(FIELDS[topic]))


def written(question: Question) -> dict[str, Any]:
    with Path(question["file"]).open("w") as file:
        for row in _rows(globals()[question["table"]].snapshot()):
            file.write(json.dumps(row) + "\n")
    return {}


def _rows(table: Any) -> Iterator[dict[str, str | None]]:
    columns = [column for column in TELLING if column in table.column_names]
    for row in table.iter_tuple(columns):
        yield dict(zip(columns, row, strict=True))


def heap(question: Question) -> dict[str, Any]:
    import jpy  # type: ignore[import-not-found]  # noqa: PLC0415

    jpy.get_type("java.lang.System").gc()
    runtime = jpy.get_type("java.lang.Runtime").getRuntime()
    return {"bytes": runtime.totalMemory() - runtime.freeMemory()}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
