"""Slows down who guesses keys: each address may be wrong a few times at once, and then once in a while."""

import hashlib
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

BURST = 10
"""Wrong keys of an address before it has to wait."""
PER_SECOND = 1.0
ADDRESSES = 10_000
"""Remembered at once. Whoever has more of them than that is not held up by this, but by the length of the keys."""
REMEMBERED = 32
"""The last wrong keys of an address. The same one again is no new guess: a script with an old key locks nobody out."""


@dataclass
class _Tries:
    left: float
    at: float
    wrong: OrderedDict[bytes, None] = field(default_factory=OrderedDict)


class Brake:
    """Only wrong keys count, and only against their own address. As soon as it may be wrong once more, an address may be right."""

    def __init__(self, burst: int = BURST, per_second: float = PER_SECOND, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = float(burst)
        self._per_second = per_second
        self._clock = clock
        self._tries: OrderedDict[str, _Tries] = OrderedDict()
        self._salt = secrets.token_bytes(16)

    def wait(self, address: str, credential: str) -> int:
        """After how many whole seconds this address may try this; 0 if now."""
        tries = self._tries.get(address)
        if tries is None or self._digest(credential) in tries.wrong:
            return 0
        left = self._refilled(tries)
        return 0 if left >= 1 else math.ceil((1 - left) / self._per_second)

    def failed(self, address: str, credential: str) -> bool:
        """Whether it is a new wrong one."""
        tries = self._tries.setdefault(address, _Tries(self._burst, self._clock()))
        self._tries.move_to_end(address)
        digest = self._digest(credential)
        if digest in tries.wrong:
            return False
        tries.left, tries.at = self._refilled(tries) - 1, self._clock()
        tries.wrong[digest] = None
        if len(tries.wrong) > REMEMBERED:
            tries.wrong.popitem(last=False)
        if len(self._tries) > ADDRESSES:
            self._tries.popitem(last=False)
        return True

    def __len__(self) -> int:
        return len(self._tries)

    def _refilled(self, tries: _Tries) -> float:
        return min(self._burst, tries.left + (self._clock() - tries.at) * self._per_second)

    def _digest(self, credential: str) -> bytes:
        """What is remembered is of no use to who reads the memory."""
        return hashlib.blake2b(credential.encode("utf-8", "surrogatepass"), digest_size=16, key=self._salt).digest()
