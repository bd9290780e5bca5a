"""What viewers have open on the server, as its metrics tell it."""

import re
import time
from urllib.request import Request, urlopen

from bench.stack import Stack

from .visit import PATIENCE_MS, Visit

SUBSCRIPTIONS = re.compile(r"^tablecast_subscriptions (\d+)$", re.MULTILINE)


def until_subscriptions(stack: Stack, count: int) -> None:
    """Until exactly so many are open, over all viewers."""
    deadline, seen = time.monotonic() + PATIENCE_MS / 1000, -1
    while seen != count:
        assert time.monotonic() < deadline, f"{seen} subscriptions are open instead of {count}"
        request = Request(f"{stack.url}/metrics", headers={"Authorization": f"Bearer {stack.key}"})  # noqa: S310
        with urlopen(request, timeout=30) as answer:  # noqa: S310
            match = SUBSCRIPTIONS.search(answer.read().decode())
            seen = int(match[1]) if match else -1


def expect_subscriptions(stack: Stack, visit: Visit, count: int) -> None:
    """This page alone has exactly so many open, once its rows are there: what it asked for so far, it asked for before it got them."""
    assert visit.open == count, visit.sent
    until_subscriptions(stack, count)
