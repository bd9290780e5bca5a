"""What an Angular developer installs, and somebody without a framework: packed as npm would publish it, unpacked elsewhere, and used."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bench.stack import REPOSITORY, Stack

from .conftest import OpenPage

WEB = REPOSITORY / "web"
NODE = {**os.environ, "PATH": f"{REPOSITORY / '.venv' / 'bin'}:{os.environ['PATH']}"}
BUILD_SECONDS = 120
PACKED = {"client": WEB / "client", "live-table": WEB / "live-table" / "dist"}
APP = """
import { Component, signal } from '@angular/core';
import { TableHub } from '@tablecast/client';
import { injectLiveTable, LiveTableGrid, PLAIN_VIEW, provideTableHub } from '@tablecast/live-table';
import type { GridView } from '@tablecast/live-table';

const hub = signal<TableHub | null>(new TableHub({ url: 'http://localhost:10000', key: 'k' }));

@Component({
  selector: 'app-root',
  imports: [LiveTableGrid],
  providers: [provideTableHub(() => hub)],
  template: '<live-table table="final_ui" [(view)]="view" [(row)]="row" storageKey="mine" />',
})
export class App {
  readonly view = signal<GridView>(PLAIN_VIEW);
  readonly row = signal<string | null>(null);
  readonly total = () => injectLiveTable({ table: () => 'final_ui' }).state()?.snapshot?.total;
}
"""
WATCH = """async (key) => {
  const { TableHub } = await import('/client/tablecast-client.js');
  const hub = new TableHub({ url: location.origin, key });
  const table = hub.open({ table: 'users_ui' }, { offset: 0, size: 10 });
  const { snapshot } = await new Promise((resolve) => { table.watch((state) => { if (state.fresh) resolve(state); }); });
  const { phase } = hub.connection.value;
  await table.close();
  await hub.close();
  return { phase, columns: snapshot.columns.map(({ name }) => name), rows: snapshot.rows.length };
}"""
TSCONFIG = """{
  "compilerOptions": {
    "strict": true, "target": "es2022", "module": "preserve", "moduleResolution": "bundler", "lib": ["ES2024", "DOM"], "outDir": "out", "types": []
  },
  "angularCompilerOptions": { "strictTemplates": true },
  "files": ["app.ts"]
}"""


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=NODE, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder elsewhere that has both packages as npm would have unpacked them, and Angular."""
    folder = tmp_path_factory.mktemp("project")
    modules = folder / "node_modules"
    run("npm", "run", "packages", "--silent", folder=WEB)
    for name, source in PACKED.items():
        run("npm", "pack", "--silent", "--pack-destination", str(folder), folder=source)
        place = modules / "@tablecast" / name
        place.mkdir(parents=True)
        run("tar", "-xzf", next(folder.glob(f"tablecast-{name}-*.tgz")), "-C", place, "--strip-components=1", folder=folder)
    for name in ("@angular", "rxjs", "tslib"):
        (modules / name).symlink_to(WEB / "node_modules" / name)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def test_the_client_is_whole_and_watches_a_table_from_node(project: Path, demo_stack: Stack) -> None:
    client = project / "node_modules" / "@tablecast" / "client"
    assert {"README.md", "package.json", "dist"} == {path.name for path in client.iterdir()}
    assert (client / "dist" / "LICENSE").is_file()
    assert not list(client.rglob("*.spec.*")), "no test is shipped"
    shutil.copy(WEB / "client" / "examples" / "watch.ts", project)
    # The `node` of the virtualenv is a program around it, which a signal would not go through.
    node = run("node", "-p", "process.execPath", folder=project).strip()
    command = [node, "watch.ts", demo_stack.url, demo_stack.key, "users_ui"]
    told = ""
    with subprocess.Popen(command, cwd=project, env=NODE, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout
        while "users_ui generation" not in told and (line := watching.stdout.readline()):
            told += line
        watching.send_signal(signal.SIGINT)
        told += watching.stdout.read()
    assert watching.returncode == 0, told
    assert "[live]" in told
    assert "@example.com" in told, "the rows themselves"


def test_a_page_without_a_framework_imports_the_client_from_the_server(open_page: OpenPage, demo_stack: Stack) -> None:
    seen = open_page().page.evaluate(WATCH, demo_stack.key)
    assert seen["phase"] == "live"
    assert seen["columns"] == ["userId", "name", "email", "age"]
    assert seen["rows"] == 10


def test_the_grid_is_taken_by_another_angular_project(project: Path) -> None:
    grid = project / "node_modules" / "@tablecast" / "live-table"
    assert {path.name for path in grid.iterdir()} >= {"LICENSE", "README.md", "package.json", "live-table.css"}
    (project / "app.ts").write_text(APP)
    (project / "tsconfig.json").write_text(TSCONFIG)
    run(WEB / "node_modules" / ".bin" / "ngc", "--project", "tsconfig.json", folder=project)
    assert "LiveTableGrid" in (project / "out" / "app.js").read_text()
