"""What is in files is taken anew when they change, and what was before stays where that fails."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tablecast.server import fresh_files
from tablecast.server.fresh_files import Stamp, follow, stamp

Step = Callable[[], object]


class Watched:
    """A file that is followed, and looked at all the time."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.taken: list[str] = []
        self._looks = 0
        monkeypatch.setattr(fresh_files, "LOOK_SECONDS", 0.001)
        monkeypatch.setattr(fresh_files, "stamp", self._look)

    def through(self, *steps: Step) -> list[str]:
        """What is taken while these are done one after another, each after the one before has been seen."""

        async def scenario() -> None:
            watching = asyncio.create_task(follow("keys are", [self.path], self._read, self.taken.append))
            await self._seen()
            for step in steps:
                step()
                await self._seen()
            watching.cancel()

        asyncio.run(scenario())
        return self.taken

    async def _seen(self) -> None:
        """Until it has been looked at twice more: then what was found at the first look is dealt with."""
        enough = self._looks + 3
        async with asyncio.timeout(5):
            while self._looks < enough:
                await asyncio.sleep(0)

    def _look(self, paths: Sequence[Path]) -> Stamp:
        self._looks += 1
        return stamp(paths)

    def _read(self) -> str:
        text = self.path.read_text()
        if not text:
            raise ValueError("nothing stands in it")
        return text


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    (tmp_path / "file").write_text("one")
    return Watched(tmp_path / "file", monkeypatch)


def test_each_change_is_taken_once(watched: Watched) -> None:
    write = watched.path.write_text
    assert watched.through(lambda: write("two"), lambda: None, lambda: write("three")) == ["one", "two", "three"]


def test_what_cannot_be_read_changes_nothing_and_is_told(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    write = watched.path.write_text
    assert watched.through(lambda: write(""), watched.path.unlink, lambda: write("two")) == ["one", "two"]
    assert "the new keys are of no use, and what was there before stays: nothing stands in it" in caplog.text
    assert caplog.text.count("of no use") == 2


def test_a_link_that_points_elsewhere_is_a_change(watched: Watched, tmp_path: Path) -> None:
    """So Kubernetes replaces a secret: the files stay as they are, and a link goes from the old folder to the new one."""
    (tmp_path / "other").write_text("two")
    (tmp_path / "link").symlink_to(tmp_path / "other")
    assert watched.through(lambda: (tmp_path / "link").replace(watched.path)) == ["one", "two"]
