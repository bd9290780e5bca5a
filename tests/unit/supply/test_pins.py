"""Everything that is fetched is pinned, and hashed where its registry lets us."""

import json
import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from xml.etree import ElementTree

from supply.java import group_of, locked_jars
from supply.lock import CONSTRAINTS, LOCK, pinned, wanted
from tablecast.jars.lock import artifact, read_lock

ROOT = Path(__file__).parents[3]
OURS = {"tablecast", "pip"}
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([A-Za-z0-9.!+_-]+)$")
SHA256 = re.compile(r"[0-9a-f]{64}")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    given = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line and not line.startswith("#")]
    matches = [PIN.match(line) for line in given]
    assert [line for line, match in zip(given, matches, strict=True) if match is None] == []
    return {canonical(match[1]): match[2] for match in matches if match}


def test_every_installed_package_is_the_pinned_one() -> None:
    installed = {canonical(found.name): found.version for found in distributions() if canonical(found.name) not in OURS}
    known = pins()
    assert {name: version for name, version in installed.items() if known.get(name) != version} == {}


def test_every_pinned_package_is_locked_by_its_digests() -> None:
    """If not: make lock."""
    text = LOCK.read_text()
    entries = {head.strip(): digests.split() for head, _, digests in (entry.partition("\\\n") for entry in re.split(r"\n(?=\S)", text)[1:])}
    assert sorted(entries) == sorted(f"{name}=={version}" for name, version in pinned(CONSTRAINTS.read_text()).items())
    for name, digests in entries.items():
        assert [digest for digest in digests if digest != "\\" and not re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", digest)] == [], name
        assert any(digest != "\\" for digest in digests), name


def test_files_for_systems_that_we_do_not_run_on_are_left_out() -> None:
    files = {
        "a-1.0-py3-none-any.whl": True,
        "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl": True,
        "a-1.0-cp39-abi3-macosx_11_0_arm64.whl": True,
        "a-1.0.tar.gz": True,
        "a-1.0-cp310-cp310-manylinux_2_28_x86_64.whl": False,
        "a-1.0-cp313-cp313t-manylinux_2_28_x86_64.whl": False,
        "a-1.0-cp311-cp311-win_amd64.whl": False,
        "a-1.1-py3-none-any.whl": False,
        "a-1.0.exe": False,
    }
    assert {file: wanted(file, "1.0") for file in files} == files


def test_the_build_is_pinned_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert all(PIN.match(needed) for needed in project["build-system"]["requires"])


def test_every_npm_package_has_a_version_and_a_hash_and_no_address() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    packages = {path: entry for path, entry in lock["packages"].items() if "node_modules/" in path and not entry.get("link")}
    assert packages
    # Builds for other platforms that the registry in use did not have: npm installs none of them here.
    foreign = {path for path, entry in packages.items() if entry.get("optional") and entry.get("cpu")}
    assert [path for path, entry in packages.items() if "integrity" not in entry and path not in foreign] == []
    assert [path for path, entry in packages.items() if "version" not in entry or "resolved" in entry] == []
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values() if "integrity" in entry)


def test_npm_packages_that_we_name_are_named_exactly() -> None:
    for manifest in (ROOT / "web").glob("*/package.json"):
        told = json.loads(manifest.read_text())
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in told.get("dependencies", {}).values()), manifest
    told = json.loads((ROOT / "web" / "package.json").read_text())
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in told["devDependencies"].values())


def test_every_jar_has_its_digest_and_what_ivy_asks_for_is_among_them() -> None:
    jars = read_lock().jars
    assert all(SHA256.fullmatch(jar.sha256) for jar in jars)
    asked = ElementTree.parse(ROOT / "src/tablecast/jars/ivy.xml").findall("dependencies/dependency")  # noqa: S314 - our own file
    assert asked
    for dependency in asked:
        name, version = dependency.attrib["name"], dependency.attrib["rev"]
        assert f"{name}-{version}.jar" in {jar.name for jar in jars}


def test_of_every_jar_it_is_known_whose_it_is() -> None:
    assert [jar.name for jar in read_lock().jars if group_of(artifact(jar.name)) is None] == []
    assert all(component["purl"].startswith("pkg:maven/") for component in locked_jars())
