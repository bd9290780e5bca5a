"""Every error that Tablecast raises on purpose.

TablecastError
├── ConfigurationError          every problem of a configuration at once
├── InstallationError
│   ├── JavaMissing             no Java, or one that is too old
│   ├── JarsUnavailable         jars that cannot be fetched or are not what they should be
│   ├── PackagesMissing         Python packages of an extra that the settings ask for
│   ├── PageMissing             a server without its built page
│   └── SparkUnusable           a Spark that does not start, or a generation that needs more slots than there are
├── KafkaError
│   ├── BrokerUnreachable       transient
│   │   ├── BrokerRefused       it does not take our credentials
│   │   ├── BrokerUntrusted     no TLS connection
│   │   └── TokenUnavailable    the token endpoint gives us none
│   ├── BrokerFailed            the embedded broker did not come up
│   ├── TopicMissing
│   ├── TopicForbidden
│   └── UntranslatableSetting   a librdkafka setting that Spark's client cannot have
├── GenerationFailed            a generation that could not be built
├── LeadLost                    another orchestrator has taken over
├── NoVerdict                   transient; a control message that nobody has answered yet
├── PortInUse
├── StateDirInUse               two of us on one state_dir
├── ServerUnreachable           transient; what our own client says of a server
├── ServerRefused               the same, with the server's own words
└── ViewerError                 what a viewer did wrong; travels over the wire with its code
    ├── ...                     what keeps somebody out: login_errors.py
    ├── MessageUnreadable, MessageTooLarge
    ├── UnknownTable, NotReady
    ├── BadWindow, BadView, ViewFailed, UnknownSubscription, SubscriptionExists
    ├── LimitReached            MessagesTooMany, SubscriptionsTooMany, SessionsTooMany, ViewsTooMany, OwnViewsTooMany, GroupsTooMany, ExportsTooMany
    ├── ControlUnreadable, ControlsTooMany
    └── NotFound

A message says what happened, with the value; a hint says what to do. `code` never changes once it is public.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


class TablecastError(Exception):
    """`transient` decides the retry: the same step may succeed later without anybody changing anything."""

    code: ClassVar[str] = "internal"
    transient: ClassVar[bool] = False

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a configuration."""

    key: str
    origin: str
    got: str
    expected: str

    def __str__(self) -> str:
        return f"{self.key} ({self.origin}): got {self.got}, expected {self.expected}"


class ConfigurationError(TablecastError):
    code = "configuration"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__(f"The configuration has {count}:\n{lines}", "\nEvery setting is described in docs/reference/settings.md.")


class InstallationError(TablecastError):
    code = "installation"


class JavaMissing(InstallationError):
    code = "java_missing"

    def __init__(self, found: str) -> None:
        super().__init__(
            f"Java 17 or newer is needed, found {found}.",
            "Install one (Debian or Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17) or point JAVA_HOME to it.",
        )


class JarsUnavailable(InstallationError):
    code = "jars_unavailable"

    def __init__(self, what: str, folder: Path) -> None:
        super().__init__(
            f"The jars in {folder} are not usable: {what}.",
            "Run again with a network to fetch the rest, or set pipeline.jars to a folder that holds spark/ and kafka/ with the jars of jars.lock.",
        )


class PackagesMissing(InstallationError):
    code = "packages_missing"

    def __init__(self, setting: str, packages: Sequence[str], extra: str) -> None:
        what = f"{setting} needs Python packages that are not installed: {', '.join(packages)}."
        super().__init__(what, f"Install them with pip install 'tablecast[{extra}]', or change the setting.")


class PageMissing(InstallationError):
    code = "page_missing"

    def __init__(self, folder: Path) -> None:
        super().__init__(f"The page is not built: {folder} has no index.html.", "In a checkout run make page; an installed wheel brings it along.")


class SparkUnusable(InstallationError):
    code = "spark_unusable"

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"Spark cannot run the pipeline: {what}.", hint)


class KafkaError(TablecastError):
    code = "kafka"


class BrokerUnreachable(KafkaError):
    code = "broker_unreachable"
    transient = True
    what: ClassVar[str] = "The {} Kafka at {} does not answer: {}."
    remedy: ClassVar[str] = 'Check "bootstrap.servers" and that the broker is up; tablecast check tries it from here.'

    def __init__(self, role: str, servers: str, reason: str, hint: str = "") -> None:
        super().__init__(self.what.format(role, servers, reason), hint or self.remedy)


class BrokerRefused(BrokerUnreachable):
    code = "broker_refused"
    what = "The {} Kafka at {} refuses these credentials: {}."


class BrokerUntrusted(BrokerUnreachable):
    code = "broker_untrusted"
    what = "There is no TLS connection to the {} Kafka at {}: {}."


class TokenUnavailable(BrokerUnreachable):
    code = "token_unavailable"
    what = "No token for the {} Kafka at {} can be had from {}."


class BrokerFailed(KafkaError):
    code = "broker_failed"

    def __init__(self, reason: str, log: Path) -> None:
        super().__init__(f"The embedded Kafka did not start: {reason}.", f"Its log is {log}.")


class TopicMissing(KafkaError):
    code = "topic_missing"

    def __init__(self, topic: str, servers: str) -> None:
        super().__init__(f"There is no topic {topic!r} on the Kafka at {servers}.", "Create it, or correct the source's topic.")


class TopicForbidden(KafkaError):
    code = "topic_forbidden"

    def __init__(self, topic: str, servers: str, action: str = "read") -> None:
        rights = "Read and Describe" if action == "read" else action.capitalize()
        what = f"These credentials may not {action} the topic {topic!r} on the Kafka at {servers}."
        super().__init__(what, f"Ask its owner for the right to it: {rights}.")


class UntranslatableSetting(KafkaError):
    code = "untranslatable_setting"

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(
            f"The Kafka setting {name!r} cannot be had in the Java client that Spark uses{f': {why}' if why else ''}.",
            "Change or remove it in [kafka]; the settings that are translated are listed in docs/reference/kafka.md.",
        )


class GenerationFailed(TablecastError):
    code = "generation_failed"
    transient = True

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"Generation {number} could not be built: {reason}.", "It is tried again as a new one; Spark's log has the whole story.")


class LeadLost(TablecastError):
    code = "lead_lost"

    def __init__(self, topic: str, reason: str) -> None:
        what = f"Another orchestrator has taken over: this one may no longer write to {topic!r} ({reason})."
        super().__init__(what, "It was paused or cut off for too long. It ends; started again it waits as a standby.")


class NoVerdict(TablecastError):
    code = "no_verdict"
    transient = True

    def __init__(self, message: str, seconds: float) -> None:
        hint = "Does an orchestrator run (tablecast run or pipeline)? The verdict will stand in the table control_raw."
        super().__init__(f"The control message {message} has no verdict after {seconds:g} s.", hint)


class PortInUse(TablecastError):
    code = "port_in_use"

    def __init__(self, host: str, port: int, setting: str) -> None:
        hint = f"Stop that program, or choose another port with {setting} (0 takes any free one)."
        super().__init__(f"Port {port} on {host} is taken by another program.", hint)


class StateDirInUse(TablecastError):
    code = "state_dir_in_use"

    def __init__(self, folder: Path, pid: int) -> None:
        hint = "Stop it first, or give this one a pipeline.state_dir of its own."
        super().__init__(f"The state folder {folder} is in use by the process {pid}.", hint)


class ServerUnreachable(TablecastError):
    code = "server_unreachable"
    transient = True

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"The table server at {url} does not answer: {reason.rstrip('.')}.", "Check the address, and that the server runs there.")


class ServerRefused(TablecastError):
    """`answer` is the code of the server's own error."""

    code = "server_refused"

    def __init__(self, answer: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.answer = answer


class ViewerError(TablecastError):
    """Goes to the viewer as it is, so it never holds a secret. `close_code` ends the socket, `status` is its HTTP twin."""

    code = "viewer"
    status: ClassVar[int] = 400
    close_code: ClassVar[int | None] = None


class MessageUnreadable(ViewerError):
    code = "bad_message"
    close_code = 4400

    def __init__(self, reason: str) -> None:
        super().__init__(f"That message is not of the protocol tablecast.v1: {reason}.", "protocol/README.md lists the messages.")


class MessageTooLarge(ViewerError):
    code = "message_too_large"
    status, close_code = 413, 4413

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"A message of {size} bytes is over the limit of {limit}.", "Send smaller messages (server.message_bytes).")


class UnknownTable(ViewerError):
    code, status = "unknown_table", 404

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no table {name[:100]!r}.", f"Tables here: {', '.join(sorted(known))}." if known else "No table is live yet.")


class NotReady(ViewerError):
    code = "not_ready"
    status, transient = 503, True

    def __init__(self, reason: str) -> None:
        super().__init__(f"The tables are not ready: {reason}.", "Try again in a moment; /readyz says when.")


class BadWindow(ViewerError):
    code = "bad_window"

    def __init__(self, field: str, got: object, expected: str) -> None:
        super().__init__(f"A window's {field} cannot be {str(got)[:40]!r}.", f"Expected {expected}.")


class BadView(ViewerError):
    code = "bad_view"

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"That view cannot be made: {what}.", hint)


class ViewFailed(ViewerError):
    code, status = "view_failed", 500

    def __init__(self, table: str) -> None:
        super().__init__(f"This view of {table[:100]} has failed, and is not shown any more.", "Open it again; the server's log says what happened.")


class UnknownSubscription(ViewerError):
    code = "unknown_subscription"

    def __init__(self, sub: int) -> None:
        super().__init__(f"There is no subscription {sub} on this connection.", "Open it first.")


class SubscriptionExists(ViewerError):
    code = "subscription_exists"

    def __init__(self, sub: int) -> None:
        super().__init__(f"The subscription {sub} is open already.", "Close it first, or use another number.")


class LimitReached(ViewerError):
    """A limit of this server, which the remedy names."""

    code = "limit"
    status, transient = 503, True
    what: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(self, limit: int) -> None:
        super().__init__(self.what.format(limit), self.remedy)


class MessagesTooMany(LimitReached):
    code = "too_many_messages"
    status, close_code, transient = 429, 4429, False
    what, remedy = "More than {} messages came within a second.", "Send only the newest window (server.messages_per_second)."


class SubscriptionsTooMany(LimitReached):
    code = "too_many_subscriptions"
    status, transient = 429, False
    what, remedy = "This connection has {} subscriptions, which is the limit.", "Close one first (server.subscriptions)."


class SessionsTooMany(LimitReached):
    code = "too_many_sessions"
    close_code = 4429
    what, remedy = "This server has {} viewers, which is its limit.", "Try again later, or another server (server.sessions)."


class ViewsTooMany(LimitReached):
    code = "too_many_views"
    what, remedy = "This server keeps {} views, which is its limit.", "Use one that is open already, or try later (server.views)."


class OwnViewsTooMany(LimitReached):
    code = "too_many_own_views"
    status, transient = 429, False
    what, remedy = "This viewer has {} different views already.", "Close one that is not looked at (server.viewer_views)."


class GroupsTooMany(LimitReached):
    code, status, transient = "too_many_groups", 400, False
    what, remedy = "This view has more than {} groups, which is the limit.", "Group by what has fewer values, or filter (server.view_groups)."


class ExportsTooMany(LimitReached):
    code = "too_many_exports"
    what, remedy = "This server makes {} exports at once, which is its limit.", "Try again when one is done (server.exports)."


class ControlUnreadable(ViewerError):
    code = "bad_control"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"That control message cannot be sent: {reason}.",
            'Send {"usersTopic": "...", "accountsTopic": "...", "joinType": "left"}, or {"topics": {"users": "..."}, "joinType": "left"}.',
        )


class ControlsTooMany(ViewerError):
    """`seconds` is when the next one may come."""

    code = "too_many_controls"
    status, transient = 429, True

    def __init__(self, seconds: int) -> None:
        super().__init__("Control messages come too fast.", f"Send one only when something changes; the next in {seconds} s.")
        self.seconds = seconds


class NotFound(ViewerError):
    code, status = "not_found", 404

    def __init__(self, path: str) -> None:
        super().__init__(f"There is nothing at {path[:100]!r}.", "The page is at /, the tables are listed at /api/tables.")
