import resource
import socket

import pytest
from pydantic import SecretStr

from tablecast.errors import ConfigurationError, PortInUse
from tablecast.server.serve import address, allow_files, listen, serve
from tablecast.settings import KafkaSettings, Settings

NOWHERE = KafkaSettings({"bootstrap.servers": "127.0.0.1:1"})


def test_a_taken_port_is_told_before_anything_starts() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse, match=rf"Port {port} on 127.0.0.1 .* server.port"):
            serve(Settings().replaced("server", psk=SecretStr("open sesame"), port=port), NOWHERE)


def test_a_server_without_a_key_does_not_start() -> None:
    with pytest.raises(ConfigurationError, match=r"server\.psk"):
        serve(Settings().replaced("server", port=0), NOWHERE)


def test_a_kafka_setting_that_cannot_be_is_told_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match=r"no\.such\.setting"):
        serve(Settings().replaced("server", psk=SecretStr("open sesame"), port=0), KafkaSettings({"no.such.setting": "1"}))


def test_as_many_files_may_be_open_as_viewers_need(caplog: pytest.LogCaptureFixture) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, hard = limits
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        allow_files(200)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256
        allow_files(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        assert caplog.text == ""
        if hard != resource.RLIM_INFINITY:
            allow_files(hard + 1)
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
            assert f"server.sessions needs {hard + 1}" in caplog.text
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost"), ("::1", "[::1]"), ("::", "localhost")])
def test_the_address_is_one_that_a_browser_can_open(host: str, shown: str) -> None:
    with listen(host, 0) as listener:
        assert address(host, listener) == f"http://{shown}:{listener.getsockname()[1]}"
