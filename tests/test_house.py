"""The house's rules, kept by a test: layering, cycles, names, sizes, documented settings and error codes. No exceptions."""

import ast
import inspect
import re
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablecast import errors, login_errors

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tablecast"
PAGES = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))["PAGES"]
MODULES = sorted(SOURCE.rglob("*.py"))
PYTHON = [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "bench").rglob("*.py")), *sorted((ROOT / "supply").rglob("*.py"))]

MOST_LINES = 400
MOST_TEST_LINES = 600
MOST_FUNCTION_LINES = 40
MOST_METHODS = 20
MOST_PARAMETERS = 8
VAGUE = re.compile(r"(Manager|Service|Helper|Utils?)$|^(utils?|common|core|helpers?|misc)$")

# What each package may import of ours. Only the command line and the launcher, which starts everything, know all.
FOUNDATION = {"errors", "catalog", "settings"}
MAY_IMPORT = {
    "errors": set(),
    "printable": set(),
    "login_errors": {"errors"},
    "catalog": {"errors"},
    "settings": {"catalog"},
    "catalog_check": {"catalog", "settings"},
    "secret_files": {"settings"},
    "configuration": {"catalog", "catalog_check", "errors", "secret_files", "settings"},
    "java": {"errors"},
    "jars": {"java", *FOUNDATION, "processes"},
    "processes": {"errors", "printable"},
    "kafka": {"jars", "java", "processes", *FOUNDATION},
    "pipeline": {"jars", "kafka", *FOUNDATION},
    "orchestrator": {"kafka", "pipeline", "tables", "jars", "configuration", *FOUNDATION},
    "tables": {"errors", "catalog"},
    "wire": {"errors", "catalog"},
    "server": {"tables", "wire", "kafka", "login_errors", "secret_files", *FOUNDATION},
    "client": {"wire", "errors", "catalog", "printable"},
    "demo": {"kafka", *FOUNDATION},
    "training": {"configuration", "demo", "jars", "kafka", "orchestrator", "pipeline", *FOUNDATION},
    "check": {"jars", "java", "kafka", "processes", "server", *FOUNDATION},
}
KNOW_ALL = {"cli", "launch", "__main__"}


def package_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(module: Path) -> Iterator[str]:
    """Dotted names of our own modules that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tablecast."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("tablecast."))


def web_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "web"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.splitlines() if name.endswith((".ts", ".html", ".css"))]
    assert files
    return files


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_run_one_way(module: Path) -> None:
    package = package_of(module)
    if package in KNOW_ALL or package == "__init__":
        return
    imported = {name.split(".")[1] for name in imports_of(module)} - {package}
    assert imported <= MAY_IMPORT[package], f"{package} may import {sorted(MAY_IMPORT[package])} of ours"


def test_no_import_cycles_between_modules() -> None:
    names = {".".join(("tablecast", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path for path in MODULES}
    graph = {name: {imported for imported in imports_of(path) if imported in names} for name, path in names.items()}
    settled: set[str] = set()
    while ready := {name for name, needs in graph.items() if name not in settled and needs <= settled}:
        settled |= ready
    assert settled == set(graph), f"these import each other in a circle: {sorted(set(graph) - settled)}"


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes_read_well(path: Path) -> None:
    text = path.read_text()
    limit = MOST_TEST_LINES if "tests" in path.parts else MOST_LINES
    assert len(text.splitlines()) <= limit
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MOST_FUNCTION_LINES, f"{node.name} is long"
            parameters = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            assert len(parameters) <= MOST_PARAMETERS, f"{node.name} has many parameters"
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
            assert len(methods) <= MOST_METHODS, f"{node.name} has many methods"


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_say_what_a_thing_is(path: Path) -> None:
    assert not VAGUE.search(path.stem)
    classes = [node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
    assert [name for name in classes if VAGUE.search(name)] == []


def test_the_page_makes_no_markup_of_what_it_is_told() -> None:
    """Text is bound as text. Nothing turns a string into HTML, script or the address of anything."""
    markup = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc|document\.write|bypassSecurityTrust|DomSanitizer"
        r"|\beval\(|new Function\(|setTimeout\(['\"`]|\[(attr\.)?(href|src|srcset|style|formaction|xlink:href)\]|\.(src|cssText) = |javascript:"
    )
    found = {str(file.relative_to(ROOT)): markup.findall(file.read_text()) for file in web_files() if not file.name.endswith(".spec.ts")}
    assert {name: what for name, what in found.items() if what} == {}


def test_typescript_files_read_well() -> None:
    assert [str(file) for file in web_files() if len(file.read_text().splitlines()) > MOST_LINES] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_reference_says_what_the_code_says(page: str) -> None:
    assert (ROOT / "docs" / "reference" / page).read_text() == PAGES[page](), "run make docs"


def test_every_error_code_is_unique() -> None:
    found = {thing for module in (errors, login_errors) for _, thing in inspect.getmembers(module, inspect.isclass)}
    classes = [thing for thing in found if issubclass(thing, errors.TablecastError)]
    codes = [thing.code for thing in classes]
    assert sorted(codes) == sorted(set(codes))


def test_no_file_names_a_machine_or_a_package_registry() -> None:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    forbidden = re.compile(r"https?://[^\s\"']*(?:/maven2|/simple/|/-/[^\s\"']*\.tgz)|\"resolved\": \"http|/(?:home|Users)/[a-z]")
    found = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path != Path(__file__) and (match := forbidden.search(path.read_text(errors="ignore"))):
            found.append(f"{name}: {match.group()}")
    assert found == []
