"""Whether anything that is pinned is known to be vulnerable: pip-audit and npm audit, and an honest word where their data cannot be reached.

`python -m supply.audit`. Exit code 0: all was looked at and nothing is known. 1: something is vulnerable. 3: something could not be looked at.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
VULNERABLE, NOT_AUDITED = 1, 3
PIP_AUDIT = ("-m", "pip_audit", "--requirement", "constraints.txt", "--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off")
NPM_AUDIT = ("npm", "audit", "--json", "--package-lock-only")
SECONDS = 300

Run = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class Finding:
    """`unreachable` says why nothing could be looked at. `skipped` are packages that nobody knows of."""

    what: str
    vulnerable: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unreachable: str | None = None


def audit(run: Run) -> list[Finding]:
    return [_python(run), _npm(run)]


def exit_code(findings: Sequence[Finding]) -> int:
    if any(finding.vulnerable for finding in findings):
        return VULNERABLE
    return NOT_AUDITED if any(finding.unreachable or finding.skipped for finding in findings) else 0


def lines(finding: Finding) -> list[str]:
    """What is said of it."""
    if finding.unreachable is not None:
        return [f"{finding.what}: NOT AUDITED, its data cannot be reached from here: {finding.unreachable}"]
    count = f"{len(finding.vulnerable)} known vulnerabilities" if finding.vulnerable else "nothing known"
    told = [f"{finding.what}: {count}", *(f"  {line}" for line in finding.vulnerable)]
    return [*told, f"  not audited, nobody knows of them: {', '.join(finding.skipped)}"] if finding.skipped else told


def _python(run: Run) -> Finding:
    what = "Python packages (pip-audit)"
    done = run([sys.executable, *PIP_AUDIT], REPOSITORY)
    answer = _object(done.stdout)
    if "dependencies" not in answer:
        return Finding(what, unreachable=_last(done))
    vulnerable = [
        f"{package['name']} {package['version']}: {flaw['id']}, mended in {', '.join(flaw['fix_versions']) or 'no version yet'}"
        for package in answer["dependencies"]
        for flaw in package.get("vulns", [])
    ]
    skipped = {package["name"]: str(package["skip_reason"]) for package in answer["dependencies"] if "skip_reason" in package}
    if len(skipped) == len(answer["dependencies"]):
        return Finding(
            what, unreachable=f"it knows none of {len(skipped)} packages; of the first it says: {next(iter(skipped.values()), 'nothing')[:200]}"
        )
    return Finding(what, tuple(vulnerable), tuple(skipped))


def _npm(run: Run) -> Finding:
    what = "npm packages (npm audit)"
    done = run(NPM_AUDIT, REPOSITORY / "web")
    answer = _object(done.stdout)
    if "vulnerabilities" not in answer:
        return Finding(what, unreachable=str(answer.get("message") or _last(done))[:300])
    found: Mapping[str, Any] = answer["vulnerabilities"]
    return Finding(what, tuple(f"{name} {flaw.get('range', '')}: {flaw.get('severity', 'unknown')}" for name, flaw in sorted(found.items())))


def _object(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _last(done: "subprocess.CompletedProcess[str]") -> str:
    said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return (said[-1] if said else f"it ended with {done.returncode} and said nothing")[:300]


def _run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {SECONDS} s")


def main() -> int:
    findings = audit(_run)
    for finding in findings:
        print("\n".join(lines(finding)))
    return exit_code(findings)


if __name__ == "__main__":
    sys.exit(main())
