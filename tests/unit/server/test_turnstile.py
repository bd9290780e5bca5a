"""Newcomers take a share of the time, in the order in which they came."""

import asyncio

from tablecast.server.turnstile import Turnstile


def test_few_go_in_at_once_and_in_order() -> None:
    async def scenario() -> None:
        entered: list[int] = []
        turnstile = Turnstile(share=0.2, burst=0.1)
        for number in range(20):
            turnstile.admit(lambda number=number: entered.append(number))  # type: ignore[misc]
        assert entered == list(range(20))

    asyncio.run(scenario())


def test_when_newcomers_have_taken_their_share_the_next_ones_wait_in_order() -> None:
    async def scenario() -> None:
        entered: list[int] = []
        turnstile = Turnstile(share=0.5, burst=0.01)

        def enter(number: int) -> None:
            entered.append(number)
            turnstile.spend(0.02)

        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(4):
            turnstile.admit(lambda number=number: enter(number))  # type: ignore[misc]
        assert entered == [0]
        while len(entered) < 4:
            await asyncio.sleep(0.001)
        assert entered == [0, 1, 2, 3]
        # Three of them waited until 20 ms of what they took were half of the time that passed; the first had the burst.
        assert loop.time() - began >= 3 * 0.02 / 0.5 - 0.01 / 0.5 - 0.01

    asyncio.run(asyncio.wait_for(scenario(), 5))
