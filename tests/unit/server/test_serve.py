import socket

import pytest
from pydantic import SecretStr

from tablecast.errors import ConfigurationError, PortInUse
from tablecast.server.serve import address, listen, serve
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


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost"), ("::1", "[::1]"), ("::", "localhost")])
def test_the_address_is_one_that_a_browser_can_open(host: str, shown: str) -> None:
    with listen(host, 0) as listener:
        assert address(host, listener) == f"http://{shown}:{listener.getsockname()[1]}"
