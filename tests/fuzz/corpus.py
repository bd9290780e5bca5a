"""Valid examples of everything that a stranger may send."""

import json
from pathlib import Path
from typing import Any

from tablecast.catalog import Column
from tablecast.kafka.status import ColumnStatus, GenerationStatus, Progress, TableStatus

GOLDEN = json.loads((Path(__file__).parents[2] / "protocol" / "golden" / "messages.json").read_text())

COLUMNS = (Column("name", "string"), Column("n", "int64"), Column("x", "double"), Column("yes", "boolean"), Column("at", "timestamp"))
CONDITIONS: tuple[dict[str, Any], ...] = (
    {"op": "eq", "column": "name", "value": "row 1"},
    {"op": "ge", "column": "n", "value": "5"},
    {"op": "lt", "column": "x", "value": 1.5},
    {"op": "ne", "column": "yes", "value": True},
    {"op": "gt", "column": "at", "value": "2026-01-01T00:00:00Z"},
    {"op": "in", "column": "name", "values": ["a", "b"]},
    {"op": "in", "column": "n", "values": ["1", "2"]},
    {"op": "contains", "column": "x", "value": "ß"},
    {"op": "null", "column": "at"},
    {"op": "not", "of": {"op": "or", "of": [{"op": "null", "column": "n"}, {"op": "starts", "column": "name", "value": "R"}]}},
)
GROUPS: tuple[dict[str, Any], ...] = (
    {"by": ["name"], "aggregates": [{"op": "count"}, {"op": "sum", "column": "n"}, {"op": "avg", "column": "x"}]},
    {"by": ["yes", "at"], "aggregates": [{"op": "min", "column": "at"}, {"op": "max", "column": "name"}, {"op": "count", "column": "n"}]},
)
SORTS = (
    [{"column": "name", "descending": True, "locale": "de"}, {"column": "n"}],
    [{"column": "at", "descending": False}],
    [{"column": "x"}, {"column": "yes", "descending": True}],
)


def _open(sub: int, **view: Any) -> dict[str, Any]:
    return {"type": "open", "sub": sub, "request": 1, "table": "people", "offset": 0, "size": 5, **view}


def _shape(sub: int, **view: Any) -> dict[str, Any]:
    return {"type": "shape", "sub": sub, "request": 2, "offset": 3, "size": 2, **view}


VIEWER_MESSAGES: tuple[dict[str, Any], ...] = (
    {"type": "login", "key": "open sesame"},
    _open(1),
    _open(2, sort=SORTS[0], search="a"),
    *(_open(1, filter=condition) for condition in CONDITIONS),
    *(_shape(2, filter=condition) for condition in CONDITIONS),
    *(_open(3, group=group, sort=[{"column": "count"}]) for group in GROUPS),
    *(_shape(1, sort=sort) for sort in SORTS),
    {"type": "move", "sub": 1, "request": 3, "offset": 1, "size": 4},
    {"type": "find", "sub": 2, "row": "0-3"},
    *({"type": "find", "sub": 3, "row": row} for row in ('["row 1"]', "[null]", '[true,"2026-01-01T00:00:00.000000Z"]', "[" * 5000)),
    {"type": "close", "sub": 1},
    {"type": "ping", "id": 7},
)
MESSAGES = (*VIEWER_MESSAGES, *(golden["message"] for golden in GOLDEN))
PARAMETERS: dict[str, tuple[Any, ...]] = {
    "sort": ("name:desc", "n,x:asc", "name:asc:de", "at:desc:und", "count", ","),
    "filter": CONDITIONS,
    "group": GROUPS,
    "search": ("row", "ß", '"', "\\"),
    "offset": ("0", "7", "-1"),
    "size": ("1", "300", "5000"),
    "format": ("csv", "arrow", "parquet"),
    "formulas": ("keep", "neutralise"),
}
CONTROLS: tuple[dict[str, Any], ...] = (
    {"usersTopic": "users", "accountsTopic": "accounts", "joinType": "left"},
    {"usersTopic": " users_v2 ", "ACCOUNTSTOPIC": "accounts", "joinType": "Inner", "dryRun": True},
    {"topics": {"users": "users", "accounts": "b"}, "joinType": "left"},
    {"topics": {"users": "u"}, "dryRun": "true", "comment": "by hand"},
)
COPIED: tuple[dict[str, Any], ...] = ({"topic": "theirs", "offsets": {"0": 7, "1": 0}}, {})
STATUS = GenerationStatus(
    3,
    "live",
    {"users": "users", "accounts": "accounts"},
    {"people": TableStatus("t.people.g3", tuple(ColumnStatus(column.name, column.type) for column in COLUMNS), 100, 3600.0)},
    {"person": "people"},
    "print",
    "2026-01-01T00:00:00.000Z",
    progress=Progress(1, 2, 3),
    ends={"t.people.g3": 2},
    join={"final_ui": "left"},
)
STATUSES = (
    json.loads(STATUS.encode()),
    {"failing": None, "leader": "me"},
    {"server": "s", "shows": 3, "reads": None, "at": "2026-01-01T00:00:00.000Z"},
)
ROWS: tuple[dict[str, Any], ...] = (
    {"name": "row 1", "n": "1", "x": 0.5, "yes": True, "at": "2026-01-01T00:00:00.000000Z"},
    {"name": "Zoë 🙂", "n": str(2**63 - 1), "x": "NaN", "yes": False, "at": None},
    {"name": None, "n": None, "x": "-Infinity", "yes": None, "at": "1969-12-31T23:59:59.999999Z"},
)
VERSIONS = (b"1700000000000:0:1", b"1700000000000:0:1|1700000000001:1:2", b"1:0:1|", b"0:0:0", b"1700000000000:0:1|1:1:1")
HTTP = (
    b"GET /api/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\n\r\n",
    b"GET /api/tables/people/rows?offset=0&size=2&sort=name:desc HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\n\r\n",
    b"GET /api/tables/people/export?format=csv HTTP/1.1\r\nHost: x\r\nAuthorization: bearer KEY\r\n\r\n",
    b"GET /api/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br;q=0, gzip\r\n\r\n",
    b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET /readyz HTTP/1.0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"HEAD /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nConnection: close\r\n\r\n",
    b'POST /api/control HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nContent-Length: 18\r\n\r\n{"usersTopic":"u"}',
    b"POST /api/control HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}a\r\n0\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
)
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: tablecast.v1\r\n\r\n"
)
