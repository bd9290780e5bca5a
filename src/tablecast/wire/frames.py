"""Frames, spliced from the bytes of rows: a row is encoded once, by Spark, and never again.

A frame is a head, which names the subscription and differs from viewer to viewer, and a body, which all viewers of the same change share.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

_encode = msgspec.json.Encoder().encode


LATE_SECONDS = 0.1
"""A frame that has waited longer than this for its viewer says so."""


def frame_head(sub: int, request: int, generation: int, revision: int, waited: float = 0.0) -> bytes:
    head = b'{"type":"frame","sub":%d,"request":%d,"generation":%d,"revision":%d,' % (sub, request, generation, revision)
    return head if waited < LATE_SECONDS else head + b'"late":%d,' % round(waited * 1000)


def frame_body(total: int, offset: int, ids: Sequence[str] | None, rows: Iterable[tuple[str, bytes]]) -> bytes:
    """The rest of a frame. Without `ids` the order stays as it was; a row's bytes must be one JSON object."""
    order = b"" if ids is None else b'"ids":' + _encode(ids) + b","
    spliced = b",".join([_encode(id) + b":" + data for id, data in rows])
    return b'"total":%d,"offset":%d,%s"rows":{%s}}' % (total, offset, order, spliced)


def rows_answer(head: Mapping[str, object], rows: Iterable[bytes]) -> bytes:
    """The HTTP twin of a frame: the fields of `head`, and one window as a whole."""
    return _encode(head)[:-1] + b',"rows":[' + b",".join(rows) + b"]}"
