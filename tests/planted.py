"""Secrets that are planted, and all the places where they must not come up."""

import base64
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil

SPARK_PAGES = ("/environment/", "/SQL/", "/StreamingQuery/", "/jobs/", "/stages/", "/executors/")
SPARK_ANSWERS = ("environment", "sql?details=true&planDescription=true&length=1000", "jobs", "stages", "allexecutors")


class Planted:
    """Looks for secrets as they are and as a login sends them, `client:secret` in base64."""

    def __init__(self, secrets: Iterable[str], clients: Iterable[tuple[str, str]]) -> None:
        logins = [base64.b64encode(f"{client}:{secret}".encode()).decode() for client, secret in clients]
        self._secrets = [text.encode() for text in (*secrets, *logins)]

    def found_in(self, content: bytes) -> bool:
        return any(secret in content for secret in self._secrets)

    def in_files(self, folder: Path) -> list[str]:
        """Names of the files under a folder that hold one. Spark and Kafka remove some while they are looked at."""
        return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and self.found_in(_content(path))]

    def in_arguments(self, processes: Sequence[psutil.Process]) -> list[str]:
        return [process.name() for process in processes if self.found_in("\0".join(_arguments(process)).encode())]

    def in_answers(self, url: str, paths: Iterable[str], key: str = "") -> list[str]:
        return [path for path in paths if self.found_in(_answer(url + path, key))]

    def in_spark_ui(self, url: str) -> list[str]:
        """All that Spark's web page and its API tell, with the plan of every query."""
        [application] = json.loads(_answer(f"{url}/api/v1/applications"))
        api = f"/api/v1/applications/{application['id']}/"
        queries = json.loads(_answer(f"{url}{api}sql?length=1000"))
        assert queries, "there are plans to look at"
        executions = [f"/SQL/execution/?id={query['id']}" for query in queries]
        return self.in_answers(url, [*(api + path for path in SPARK_ANSWERS), *SPARK_PAGES, *executions])


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _answer(url: str, key: str = "") -> bytes:
    try:
        with urlopen(Request(url, headers={"Authorization": f"Bearer {key}"} if key else {}), timeout=30) as answer:  # noqa: S310
            return bytes(answer.read())
    except HTTPError as error:
        return error.read()


def _arguments(process: psutil.Process) -> list[str]:
    """None of one that has ended meanwhile."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []
