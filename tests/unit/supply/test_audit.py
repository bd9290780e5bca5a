"""An audit that could not be made is never taken for one that found nothing."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from supply.audit import Finding, audit, exit_code, lines

CLEAN_PIP = json.dumps({"dependencies": [{"name": "a", "version": "1", "vulns": []}]})
BAD_PIP = json.dumps({"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2", "3"]}]}]})
UNKNOWN_PIP = json.dumps({"dependencies": [{"name": "a", "skip_reason": "not found"}]})
HALF_PIP = json.dumps({"dependencies": [{"name": "a", "skip_reason": "not found"}, {"name": "b", "version": "1", "vulns": []}]})
CLEAN_NPM = json.dumps({"vulnerabilities": {}, "metadata": {}})
BAD_NPM = json.dumps({"vulnerabilities": {"b": {"severity": "high", "range": "<2"}}})
NO_NPM = json.dumps({"message": "request to the registry failed", "error": {"code": "ENOTFOUND"}})
NOWHERE = ""


def audited(pip: str, npm: str) -> list[Finding]:
    def run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        text = npm if command[0] == "npm" else pip
        return subprocess.CompletedProcess(command, 0 if text else 1, text, "" if text else "a trace\nConnectionError: no route\n")

    return audit(run)


@pytest.mark.parametrize(
    ("pip", "npm", "code", "words"),
    [
        (CLEAN_PIP, CLEAN_NPM, 0, ["nothing known", "nothing known"]),
        (BAD_PIP, CLEAN_NPM, 1, ["1 known vulnerabilities", "a 1: PYSEC-1, mended in 2, 3", "nothing known"]),
        (CLEAN_PIP, BAD_NPM, 1, ["nothing known", "b <2: high"]),
        (NOWHERE, BAD_NPM, 1, ["NOT AUDITED", "ConnectionError: no route", "b <2: high"]),
        (NOWHERE, CLEAN_NPM, 3, ["NOT AUDITED", "nothing known"]),
        (CLEAN_PIP, NO_NPM, 3, ["nothing known", "NOT AUDITED", "request to the registry failed"]),
        (CLEAN_PIP, "[]", 3, ["NOT AUDITED"]),
        (UNKNOWN_PIP, CLEAN_NPM, 3, ["NOT AUDITED", "it knows none of 1 packages", "not found"]),
        (HALF_PIP, CLEAN_NPM, 3, ["nothing known", "not audited, nobody knows of them: a"]),
    ],
)
def test_what_was_found_and_what_was_not_looked_at(pip: str, npm: str, code: int, words: list[str]) -> None:
    findings = audited(pip, npm)
    said = "\n".join(line for finding in findings for line in lines(finding))
    assert exit_code(findings) == code
    place = 0
    for word in words:
        place = said.index(word, place)
