"""The real server, without Kafka, for the clients."""

from tests.unit.server.conftest import hub, serving

__all__ = ["hub", "serving"]
