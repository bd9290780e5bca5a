"""One CycloneDX bill of materials of all that Tablecast is made of: Python packages, npm packages and Java's jars.

`python -m supply.sbom FILE`. The same packages give the same file: it has no time and no random number.
"""

import argparse
import json
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cyclonedx.schema
import jsonschema_rs

from supply.java import Component, bundled_jars, locked_jars
from tablecast import __version__

Bom = Mapping[str, Any]

REPOSITORY = Path(__file__).parent.parent
FILE = REPOSITORY / "artifacts" / "sbom.json"
ROOT = "tablecast"
SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"
"""CycloneDX's own, as its Python library brings them. A thousand components take its own validator half a minute."""
PYTHON = ("-m", "cyclonedx_py", "environment", "--no-validate", "--output-reproducible", "--spec-version", "1.6", sys.executable)
NPM = ("npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only")


def python_bom() -> Bom:
    """The packages of the virtualenv that runs this, which constraints.txt pins."""
    return _told([sys.executable, *PYTHON], REPOSITORY)


def npm_bom() -> Bom:
    """The packages of web/package-lock.json, those of development too, which are marked as such."""
    return _told(NPM, REPOSITORY / "web")


def merged(parts: Mapping[str, Bom], jars: Sequence[Component]) -> dict[str, Any]:
    """`parts` by the kind of their packages. Each component keeps what it says of itself; its reference gets the kind in front, so that a package of
    one kind is not taken for its namesake of another."""
    components = [component for kind, part in parts.items() for component in _components(kind, part)] + list(jars)
    known = {component["bom-ref"] for component in components}
    inner = [dependency for kind, part in parts.items() for dependency in _dependencies(kind, part) if dependency["ref"] in known]
    named = {ref for dependency in inner for ref in dependency["dependsOn"]}
    content = json.dumps([components, inner], sort_keys=True)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, content)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": ROOT, "name": ROOT, "version": __version__}},
        "components": components,
        "dependencies": [{"ref": ROOT, "dependsOn": sorted(known - named)}, *inner],
    }


def flaws(bom: Mapping[str, Any]) -> list[str]:
    """Where it is not as the schema of CycloneDX says; empty when it is."""
    schemas = {name: json.loads((SCHEMAS / f"{name}.SNAPSHOT.schema.json").read_text()) for name in ("bom-1.6", "spdx", "jsf-0.82")}
    main = schemas["bom-1.6"]
    folder = main["$id"].rpartition("/")[0]
    others = [(f"{folder}/{name}.SNAPSHOT.schema.json", schema) for name, schema in schemas.items() if schema is not main]
    validator = jsonschema_rs.validator_for(main, registry=jsonschema_rs.Registry(others))
    return [f"{error.instance_path}: {error.message[:300]}" for error in validator.iter_errors(dict(bom))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write a bill of materials.")
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    file: Path = parser.parse_args(arguments).file
    bom = merged({"python": python_bom(), "npm": npm_bom()}, [*locked_jars(), *bundled_jars()])
    problems = flaws(bom)
    for problem in problems:
        print(f"The bill of materials is not valid: {problem}", file=sys.stderr)
    if problems:
        return 1
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(bom, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(bom['components'])} components in {file}")
    return 0


def _told(command: Sequence[str], folder: Path) -> Bom:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])} failed: {done.stderr.strip()[-500:]}")
    bom: Bom = json.loads(done.stdout)
    return bom


def _components(kind: str, part: Bom) -> list[Component]:
    own = [component for component in part.get("components", []) if component["name"] != ROOT]
    return [{**component, "bom-ref": _ref(kind, component["bom-ref"])} for component in own]


def _dependencies(kind: str, part: Bom) -> list[dict[str, Any]]:
    told = part.get("dependencies", [])
    return [{"ref": _ref(kind, one["ref"]), "dependsOn": [_ref(kind, ref) for ref in one.get("dependsOn", [])]} for one in told]


def _ref(kind: str, ref: str) -> str:
    return f"{kind}:{ref}"


if __name__ == "__main__":
    sys.exit(main())
