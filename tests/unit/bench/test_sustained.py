"""Up to which rate bench.sustained goes on."""

from typing import Any

import pytest

from bench.sustained import WARMUP_RATE, Options, _steps


@pytest.mark.parametrize(
    ("missed", "measured"),
    [(set(), [1, 2, 3, 4]), ({1}, [1, 2, 3, 4]), ({1, 3}, [1, 2, 3, 4]), ({2, 3}, [1, 2, 3]), ({1, 2}, [1, 2])],
)
def test_two_rates_in_a_row_that_are_missed_are_the_end(missed: set[int], measured: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    firsts = []

    def step(options: Options, stack: Any, arrivals: Any, rate: int, first: int) -> dict[str, Any]:
        firsts.append(first)
        return {"rate": rate, "p99_ms": 1.0, "missing": 0, "kept_up": rate not in missed}

    monkeypatch.setattr("bench.sustained._step", step)
    options = Options("small", 10, seconds=2.0, settle=1.0, limit_ms=250.0, warmup=1.0, rates=(1, 2, 3, 4))
    unused: Any = None
    assert [found["rate"] for found in _steps(options, unused, unused)] == measured
    assert firsts[:3] == [0, WARMUP_RATE, WARMUP_RATE + 3]
