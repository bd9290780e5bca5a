"""Everything that parses a stranger's bytes, one target each: what it must make of any input. What it raises is a finding."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import msgspec
from confluent_kafka import Message
from hypothesis.strategies import SearchStrategy
from starlette.datastructures import QueryParams

from tablecast.errors import BadView, ControlUnreadable, MessageUnreadable, ViewerError
from tablecast.kafka.control import ID_HEADER
from tablecast.kafka.status import PULSE_KEY, GenerationStatus, decode_copied
from tablecast.orchestrator.control import Rejection, Request, parse
from tablecast.orchestrator.system_tables import VersionClock
from tablecast.orchestrator.verdicts import Answer, Verdicts, letter_of
from tablecast.server.api import read_spec, read_window
from tablecast.server.control import ControlDesk
from tablecast.server.export import ExportSpec, pieces
from tablecast.server.follower import GenerationFollower, ServersFollower, StatusFollower
from tablecast.server.hub import Hub
from tablecast.server.typed_cells import with_sums
from tablecast.tables.cells import cell_reader
from tablecast.tables.condition import condition_columns, condition_test, read_condition
from tablecast.tables.generation import Generation
from tablecast.tables.live_table import LiveTable
from tablecast.tables.placing import slots_of
from tablecast.tables.view import ViewSpec, make_view
from tablecast.wire.frames import rows_answer
from tablecast.wire.messages import decode_server, decode_viewer, encode
from tests.unit.server.talking import Talk

from . import corpus
from .inputs import damaged, made_by, mutated, query

MOST_REASON = 2000
ODD_CELLS: tuple[Any, ...] = ("", 5, 2**70, [], {}, "9" * 5000, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


@dataclass
class Target:
    """`take` is given one input after another."""

    inputs: SearchStrategy[Any]
    take: Callable[[Any], None]


@contextmanager
def refusing(error: type[ViewerError]) -> Iterator[None]:
    """Such an error is an answer, if it is told in a few words."""
    try:
        yield
    except error as refusal:
        if len(str(refusal)) > MOST_REASON:
            raise AssertionError("the input is told again, and not in a few words") from refusal


def people(sound: bool = False) -> LiveTable:
    """Rows as they may be, and rows as nobody should have written them, unless they are to be `sound` JSON."""
    table = LiveTable("people", corpus.COLUMNS)
    odd = [*({"name": value, "n": value, "x": value, "yes": value, "at": value} for value in ODD_CELLS), {}]
    data = [json.dumps(row).encode() for row in (*corpus.ROWS, *odd)]
    broken = [] if sound else [b'{"name":"\xff"}', b'{"n":' + b"[" * 3000 + b"}", b"{,}"]
    for index, row in enumerate([*data, *broken]):
        table.upsert(b"0-%d" % index, row, b"1:0:%d" % index)
    return table


def hub_of_people() -> Hub:
    hub = Hub()
    hub.flip(Generation(1, [people(sound=True)], {"person": "people"}))
    hub.say("live")
    return hub


def wire() -> Target:
    """A message is read, or it is told why not; what was read is written as it was."""

    def take(data: bytes) -> None:
        with refusing(MessageUnreadable):
            message = decode_viewer(data)
            assert decode_viewer(encode(message)) == message
        with refusing(MessageUnreadable):
            decode_server(data)

    return Target(made_by(lambda random: mutated(random, corpus.MESSAGES)), take)


def session(talk: Callable[[Hub], Talk], runner: asyncio.Runner) -> Target:
    """Bytes in, messages of the protocol out; at the end nothing is left of the viewer."""
    hub = hub_of_people()

    async def converse(messages: list[bytes]) -> None:
        viewer = talk(hub)
        for message in [b'{"type":"login","key":"open sesame"}', *messages] if len(messages) > 1 else messages:
            viewer.session.receive(message)
            while answers := viewer.session.outbox.take():
                for answer in answers:
                    decode_server(answer)
        viewer.session.close(1000)
        hub.audience.discard(viewer.session)
        assert not any(hub.wanted().values())

    def messages(random: Random) -> list[bytes]:
        return [mutated(random, corpus.VIEWER_MESSAGES) for _ in range(random.randrange(1, 6))]

    return Target(made_by(messages), lambda given: runner.run(converse(given)))


def conditions() -> Target:
    """A filter that is taken says of every row whether it fits."""
    rows = [row.data for row in people().rows(0, 100)]

    def take(data: bytes) -> None:
        with refusing(BadView):
            condition = read_condition(_json(data))
            slots = slots_of(sorted(condition_columns(condition)), corpus.COLUMNS)
            test, read = condition_test(condition, slots), cell_reader(list(slots))
            assert {type(test(read(row))) for row in rows} == {bool}

    return Target(made_by(lambda random: mutated(random, corpus.CONDITIONS)), take)


def http_queries() -> Target:
    """A window or an export of a view, or the reason why not."""
    table = people()

    def take(text: str) -> None:
        with refusing(ViewerError):
            parameters = QueryParams(text)
            window = read_window(parameters, 5000)
            spec = read_spec(parameters)
            chosen = ExportSpec.checked(parameters.get("format", "csv"), parameters.get("formulas", "keep"))
            rows, columns = looked_at(table, spec)
            start = window.start(len(rows))
            part = [row for row in rows[start : start + window.size] if _json(row) is not None]
            msgspec.json.decode(rows_answer({"total": len(rows)}, part))
            assert b"".join(pieces(chosen, with_sums(columns, rows) if spec.group else columns, rows))

    return Target(made_by(lambda random: query(random, corpus.PARAMETERS)), take)


def looked_at(table: LiveTable, spec: ViewSpec) -> tuple[list[bytes], Any]:
    view = make_view(table, spec)
    while not (view.build(500) and view.ready):
        pass
    rows = [row.data for row in view.rows(0, view.total)]
    view.leave()
    return rows, view.columns


def orchestrator_control() -> Target:
    """A control message is a request or is refused, in a few words, and has its row of control_raw."""
    verdicts = Verdicts("t", VersionClock(), "ours")

    def take(given: tuple[bytes, bytes, int]) -> None:
        value, header, timestamp = given
        message = record(b"", value, [(ID_HEADER, header)], timestamp)
        letter, found = letter_of(message), parse(value, ("users", "accounts"))
        assert isinstance(found, Request | Rejection)
        reason = found.reason if isinstance(found, Rejection) else f"{found} {found.ignored}"
        assert len(reason) < 2 * MOST_REASON
        for row in verdicts.records([Answer(letter.shortened(), "rejected", reason)]):
            assert row.value is None or json.loads(row.value)["reason"] == reason
        with suppress(msgspec.DecodeError):
            decode_copied(header)

    def message(random: Random) -> tuple[bytes, bytes, int]:
        return mutated(random, corpus.CONTROLS), mutated(random, corpus.COPIED), random.choice((-1, 0, 2**63 - 1, random.getrandbits(50)))

    return Target(made_by(message), take)


def server_control(runner: asyncio.Runner) -> Target:
    """A body is sent on as JSON, answered with no change, or refused."""
    hub = hub_of_people()
    hub.statuses = (corpus.STATUS,)
    sent: list[bytes] = []
    moment = [0.0]

    async def take(body: bytes) -> None:
        moment[0] += 100.0
        with refusing(ControlUnreadable):
            await desk.take(body)
        while sent:
            assert isinstance(json.loads(sent.pop()), dict)

    def send(message: bytes) -> str:
        sent.append(message)
        return "id"

    desk = ControlDesk(hub, send, lambda: moment[0])
    return Target(made_by(lambda random: mutated(random, corpus.CONTROLS)), lambda body: runner.run(take(body)))


@dataclass
class Loop:
    """Runs what is posted at once, and hears what is told of a generation."""

    statuses: dict[bytes, GenerationStatus] = field(default_factory=dict)

    def post(self, step: Callable[[], None]) -> None:
        step()

    def told(self, follower: StatusFollower) -> None:
        self.statuses = follower.generations

    def nothing(self, *_: object) -> None:
        pass

    filled = waits = lost = applied = nothing


class Reached:
    """A reader that has read everything."""

    behind = frozenset[tuple[str, int]]()

    def position(self, topic: str) -> int:
        return 1 << 62


def record(key: bytes, value: bytes | None, headers: list[tuple[str, bytes]], timestamp: int = 0, topic: str = "t.people.g3") -> Message:
    told = {"key": key, "value": value, "headers": headers, "partition": 0, "offset": 5, "timestamp": (1, timestamp), "topic": topic}
    return cast("Message", SimpleNamespace(**{name: lambda got=got: got for name, got in told.items()}))


def kafka_records() -> Target:
    """Records of the status topic, the servers' topic and a changelog: taken or skipped, and whatever was taken can be looked at."""

    def take(given: tuple[bytes, list[tuple[bytes, bytes | None, bytes, bytes]]]) -> None:
        status_record, rows = given
        loop = Loop()
        statuses = StatusFollower(loop.post, loop.told, loop.nothing)
        statuses.turn(cast(Any, Reached()))
        statuses.records([record(b"3", corpus.STATUS.encode(), []), record(PULSE_KEY, status_record, []), record(b"4", status_record, [])])
        ServersFollower().records([record(b"s", status_record, [])])
        for status in loop.statuses.values():
            follower = GenerationFollower(status, loop.post, dict, cast(Any, loop))
            topics = [table.changelog for table in status.tables.values()] or ["t"]
            messages = [record(key, value, [("version", version), ("order", order)], topic=topics[0]) for key, value, version, order in rows]
            if messages and status.tables:
                follower.records(messages)
            follower.turn(cast(Any, Reached()))
            for table in follower.generation.tables():
                _looks(table)

    def change(random: Random) -> tuple[bytes, bytes | None, bytes, bytes]:
        row = mutated(random, corpus.ROWS) if random.random() < 0.9 else None
        return random.randbytes(random.randrange(4)), row, _version(random), _version(random) if random.random() < 0.5 else b""

    def told(random: Random) -> tuple[bytes, list[tuple[bytes, bytes | None, bytes, bytes]]]:
        return mutated(random, corpus.STATUSES), [change(random) for _ in range(random.randrange(6))]

    return Target(made_by(told), take)


def _version(random: Random) -> bytes:
    version = random.choice(corpus.VERSIONS)
    return damaged(random, version) if random.random() < 0.3 else version


def _looks(table: LiveTable) -> None:
    for column in table.columns:
        query = QueryParams({"sort": column.name, "filter": json.dumps({"op": "ne", "column": column.name, "value": "5"}), "search": "a"})
        try:
            looked_at(table, read_spec(query))
        except BadView:
            looked_at(table, read_spec(QueryParams({"sort": f"{column.name}:desc"})))
        looked_at(table, read_spec(QueryParams({"group": json.dumps({"by": [column.name], "aggregates": [{"op": "max", "column": column.name}]})})))


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
