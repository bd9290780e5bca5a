"""A newcomer waits while another leads, and takes over when it is gone."""

from tablecast.kafka.status import Pulse
from tablecast.orchestrator.lease import LEASE_SECONDS, Lease


def test_nobody_has_led_yet() -> None:
    assert Lease().is_free(0.0)


def test_a_leader_that_is_heard_keeps_the_lead() -> None:
    lease = Lease()
    for second in range(20):
        lease.hear(Pulse(None, "one"), float(second))
        assert not lease.is_free(second + 1.0)


def test_silence_frees_the_lead() -> None:
    lease = Lease()
    lease.hear(Pulse(None, "one"), 100.0)
    assert not lease.is_free(100.0 + LEASE_SECONDS - 0.1)
    assert lease.is_free(100.0 + LEASE_SECONDS)


def test_who_ends_gives_up_the_lead_at_once() -> None:
    lease = Lease()
    lease.hear(Pulse(None, "one"), 100.0)
    lease.hear(Pulse(None, None), 100.5)
    assert lease.is_free(100.5)
    lease.hear(Pulse("a query failed", "two"), 101.0)
    assert not lease.is_free(101.0)
