"""Where the checkpoints of a generation are kept: in a folder of this machine, or at any path that Spark's Hadoop can write."""

import re
import shutil
from pathlib import Path
from typing import Protocol

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tablecast.settings import PipelineSettings

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class CheckpointFolder(Protocol):
    """Of one generation. A query has a place of its own in it; beside them stand small files of ours."""

    def place(self, name: str) -> str:
        """Where a query keeps its checkpoint, as Spark is told."""

    def read(self, name: str) -> str:
        """OSError where there is no such file, or it cannot be read."""

    def write(self, name: str, text: str) -> None:
        """Whole or not at all, also where the disk is full or the machine stops. OSError if it cannot be written."""

    def names(self) -> list[str]:
        """What is in it; nothing where it is not there itself. OSError if it cannot be read."""

    def remove(self) -> None:
        """With all that is in it. May be called again."""


def checkpoint_folder(number: int, settings: PipelineSettings, session: SparkSession) -> CheckpointFolder:
    return _folder(f"/g{number}", settings, session)


def generations_with_checkpoints(settings: PipelineSettings, session: SparkSession) -> set[int]:
    """Whose folders are there, whole or not."""
    found = [re.fullmatch(r"g(\d+)", name) for name in _folder("", settings, session).names()]
    return {int(match[1]) for match in found if match is not None}


def _folder(below: str, settings: PipelineSettings, session: SparkSession) -> CheckpointFolder:
    given = settings.checkpoint_dir
    if given is not None and is_uri(given):
        return HadoopFolder(f"{given.rstrip('/')}{below}", session)
    root = (Path(given) if given is not None else settings.state_dir / "checkpoints").resolve()
    return LocalFolder(Path(f"{root}{below}"))


def is_uri(path: str) -> bool:
    """Whether a path says itself which file system it is of."""
    return _URI.match(path) is not None


class LocalFolder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, name: str) -> str:
        return str(self._folder / name)

    def read(self, name: str) -> str:
        return (self._folder / name).read_text()

    def write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        unfinished = self._folder / f"{name}.tmp"
        unfinished.write_text(text)
        unfinished.replace(self._folder / name)

    def names(self) -> list[str]:
        return [child.name for child in self._folder.iterdir()] if self._folder.exists() else []

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class HadoopFolder:
    def __init__(self, uri: str, session: SparkSession) -> None:
        self._uri = uri
        self._session = session

    def place(self, name: str) -> str:
        return f"{self._uri}/{name}"

    def read(self, name: str) -> str:
        try:
            stream = self._files().open(self._path(name))
            try:
                return str(self._java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
        except Py4JJavaError as error:
            raise _told(error) from error

    def write(self, name: str, text: str) -> None:
        unfinished, whole = self._path(f"{name}.tmp"), self._path(name)
        try:
            files = self._files()
            stream = files.create(unfinished, True)
            try:
                stream.write(text.encode())
            finally:
                stream.close()
            # Hadoop renames nothing onto a file that is there. One that is missing is made anew, one that is half written would be believed.
            files.delete(whole, False)
            if not files.rename(unfinished, whole):
                raise OSError(f"{whole.toString()} could not be renamed from {unfinished.toString()}")
        except Py4JJavaError as error:
            raise _told(error) from error

    def names(self) -> list[str]:
        try:
            files, folder = self._files(), self._path()
            return [str(child.getPath().getName()) for child in files.listStatus(folder)] if files.exists(folder) else []
        except Py4JJavaError as error:
            raise _told(error) from error

    def remove(self) -> None:
        try:
            self._files().delete(self._path(), True)
        except Py4JJavaError as error:
            raise _told(error) from error

    @property
    def _java(self) -> JavaObject:
        return self._session.sparkContext._jvm

    def _path(self, name: str | None = None) -> JavaObject:
        return self._java.org.apache.hadoop.fs.Path(self._uri if name is None else self.place(name))

    def _files(self) -> JavaObject:
        return self._path().getFileSystem(self._session.sparkContext._jsc.hadoopConfiguration())


def _told(error: Py4JJavaError) -> OSError:
    return OSError(error.java_exception.toString())
