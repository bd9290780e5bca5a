"""How many inputs, and what is watched while they are tried."""

import pytest

from tests.unit.server.conftest import clock, serving, talk_to

__all__ = ["clock", "serving", "talk_to"]

SHARE = 4000
"""Of inputs within make test; make fuzz tries a hundred thousand."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--inputs", type=int, default=SHARE, help="how many inputs all fuzz tests try together")
    parser.addoption("--fuzz-seed", type=int, default=8, help="from which number on inputs are made up")
