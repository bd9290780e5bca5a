"""One bill of materials of everything, valid by the schema of CycloneDX."""

import json
import os
import sys
from pathlib import Path

import pytest

from supply.sbom import flaws, main, merged

LIBRARY = {"type": "library", "bom-ref": "a", "name": "a", "version": "1"}


@pytest.fixture(scope="module")
def bom(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """As make sbom makes it."""
    file = tmp_path_factory.mktemp("sbom") / "sbom.json"
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        assert main([str(file)]) == 0
    finally:
        os.environ["PATH"] = before
    told: dict[str, object] = json.loads(file.read_text())
    return told


def test_it_is_valid_and_covers_python_npm_and_java(bom: dict[str, object]) -> None:
    assert flaws(bom) == []
    components = bom["components"]
    assert isinstance(components, list)
    purls = {component["purl"].partition("?")[0] for component in components if "purl" in component}
    for kind in (
        "pkg:pypi/pyspark@",
        "pkg:pypi/msgspec@",
        "pkg:npm/%40angular/core@",
        "pkg:npm/uplot@",
        "pkg:maven/org.apache.kafka/kafka-clients@3.9.2",
    ):
        assert any(purl.startswith(kind) for purl in purls), kind
    assert any("jackson-databind" in purl and "2.21.2" in purl for purl in purls)
    refs = [component["bom-ref"] for component in components]
    assert len(set(refs)) == len(refs)


def test_no_address_of_a_registry_and_no_path_of_this_machine_is_in_it(bom: dict[str, object]) -> None:
    text = json.dumps(bom)
    assert "index-url" not in text
    assert str(Path(__file__).parents[3]) not in text


def test_namesakes_of_two_kinds_are_two_components() -> None:
    part = {"components": [LIBRARY], "dependencies": [{"ref": "a", "dependsOn": []}]}
    told = merged({"python": part, "npm": part}, [])
    assert [component["bom-ref"] for component in told["components"]] == ["python:a", "npm:a"]
    assert told["dependencies"][0] == {"ref": "tablecast", "dependsOn": ["npm:a", "python:a"]}
    assert flaws(told) == []
    assert merged({"python": part}, []) == merged({"python": part}, [])


def test_what_is_not_of_the_schema_is_found() -> None:
    assert flaws({**merged({}, []), "components": [{"name": "a"}]}) != []
