"""A server as a platform team runs it: TLS, keys from files, tokens of a provider; all of them replaced while people watch."""

import re
import shutil
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bench.stack import Stack, all_on
from tablecast.client import OpenTable, connect
from tablecast.errors import ServerRefused
from tablecast.kafka.names import TRIMMED, control_topic
from tests.certificates import Authority, name_shown
from tests.integration.by_hand import PATIENCE, Pipeline, names, wait_for
from tests.token_server import TokenServer

LISTENS = re.compile(r"\[server\] listens at (?P<url>https://\S+)")
IN_USE = re.compile(r"\[server\] the new certificate is in use")
OLD_KEY, NEW_KEY, OPERATOR_KEY = "the old key of viewers", "the new key of viewers", "the key of operators"


@dataclass
class Secured:
    """A running server, and everything that it trusts."""

    url: str
    stack: Stack
    authority: Authority
    provider: TokenServer
    folder: Path
    context: ssl.SSLContext

    def get(self, path: str, key: str) -> httpx.Response:
        return httpx.get(self.url + path, headers={"authorization": f"Bearer {key}"}, verify=self.context)

    def swap(self, key: str) -> httpx.Response:
        asked = {"usersTopic": "no such topic", "accountsTopic": "nor this", "dryRun": True}
        return httpx.post(f"{self.url}/api/control", json=asked, headers={"authorization": f"Bearer {key}"}, verify=self.context)


@pytest.fixture
def secured(pipeline: Pipeline, tmp_path: Path, jars_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Secured]:
    authority = Authority(tmp_path / "authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    first = authority.issue("first")
    for source, name in ((first.chain, "chain.pem"), (first.key, "key.pem")):
        shutil.copy(source, tmp_path / name)
    (tmp_path / "viewers").write_text(f"{OLD_KEY}\n")
    (tmp_path / "operators").write_text(f"{OPERATOR_KEY}\n")
    with TokenServer(certificate=authority.issue("provider")) as provider:
        settings = {
            **all_on(pipeline.kafka.servers),
            "changelog.prefix": pipeline.prefix,
            "server.psk.file": tmp_path / "viewers",
            "server.tls_certificate": tmp_path / "chain.pem",
            "server.tls_key": tmp_path / "key.pem",
            "server.oidc.issuer": provider.issuer,
            "server.oidc.audience": provider.audience,
            "server.oidc.leeway_seconds": 0,
        }
        environment = {"TABLECAST_SERVER_OPERATOR_PSK_FILE": str(tmp_path / "operators"), "TABLECAST_SERVER_OIDC_CA": str(authority.certificate)}
        with Stack(tmp_path / "state", jars_dir.absolute(), "serve", settings, environment) as stack:
            url = stack.log.wait_for(LISTENS, PATIENCE)["url"]
            yield Secured(url, stack, authority, provider, tmp_path, ssl.create_default_context())


def replace_certificate(secured: Secured) -> None:
    assert name_shown(secured.url, secured.context) == "first"
    second = secured.authority.issue("second")
    shutil.copy(second.key, secured.folder / "key.pem")
    shutil.copy(second.chain, secured.folder / "chain.pem")
    secured.stack.log.wait_for(IN_USE, PATIENCE)
    assert name_shown(secured.url, secured.context) == "second"


def add_key(secured: Secured) -> None:
    (secured.folder / "viewers").write_text(f"{OLD_KEY}\n{NEW_KEY}\n")
    deadline = time.monotonic() + PATIENCE
    while secured.get("/api/tables", NEW_KEY).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert secured.get("/api/tables", OLD_KEY).status_code == 200


def ends_with(table: OpenTable) -> str:
    """The code of the error that ends the session."""
    with pytest.raises(ServerRefused) as ended:
        wait_for(table, lambda _: False)
    return ended.value.answer


def test_everything_is_replaced_while_people_watch(pipeline: Pipeline, secured: Secured) -> None:
    pipeline.topics.ensure(control_topic(pipeline.prefix), 1, TRIMMED)
    pipeline.begin(1, rows=10)
    pipeline.go_live(1)
    token = secured.provider.token("zoe", roles=["viewer"])
    with connect(secured.url, OLD_KEY) as by_key, connect(secured.url, token) as by_token, connect(secured.url, OPERATOR_KEY) as operator:
        assert (by_key.role, by_token.role, operator.role) == ("viewer", "viewer", "operator")
        windows = [viewer.open("users_ui", size=10) for viewer in (by_key, by_token)]
        assert [window.wait(PATIENCE).total for window in windows] == [10, 10]
        assert [secured.swap(key).status_code for key in (OLD_KEY, token, OPERATOR_KEY)] == [403, 403, 202]
        assert secured.get("/api/tables", token).status_code == 200
        replace_certificate(secured)
        add_key(secured)
        pipeline.write(1, (0, "changed"), version=1)
        for window in windows:
            assert names(wait_for(window, lambda seen: "changed" in names(seen)))[0] == "changed"
        (secured.folder / "viewers").write_text(f"{NEW_KEY}\n")
        assert ends_with(windows[0]) == "key_withdrawn"
        with connect(secured.url, secured.provider.token("zoe", lifetime=2, roles=["operator"]), PATIENCE) as short:
            assert ends_with(short.open("users_ui", size=10)) == "token_expired"
        pipeline.write(1, (0, "and again"), version=2)
        assert wait_for(windows[1], lambda seen: "and again" in names(seen))
    said = "\n".join(secured.stack.log.lines)
    assert [secret for secret in (OLD_KEY, NEW_KEY, OPERATOR_KEY, token) if secret in said] == []
