"""A program of a peer, in a process of its own, that is asked by lines of JSON and answers each by one."""

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from bench.stack import StackError

END_SECONDS = 10.0


class Asked:
    """From `with` to its end. The program ends when its standard input does, and so it ends with this process, however that ends.

    Its first line, unasked, is `greeting`. All that it prints to standard error is in the file `log`.
    """

    def __init__(self, command: Sequence[str], log: Path, seconds: float, environment: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._log = log
        self._seconds = seconds
        self._environment = environment
        self._answers: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> Self:
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1, env=self._environment
            )
        threading.Thread(target=self._read, args=(self.process.stdout,), name="answers", daemon=True).start()
        try:
            self.greeting = self._answer("its greeting", self._seconds)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """StackError when there is no answer in time, there cannot be one any more, or it is an error."""
        assert self.process.stdin is not None
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            raise self._failed("it has ended") from None
        return self._answer(f"an answer to {question}", seconds)

    def _answer(self, what: str, seconds: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            raise self._failed(f"{what} did not come within {seconds:g} s") from None
        if line is None:
            raise self._failed(f"it ended before {what} came")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise self._failed(f"{what} is an error: {answer['error']}")
        return answer

    def _failed(self, what: str) -> StackError:
        program = next((Path(part).name for part in self._command if part.endswith((".py", ".mjs"))), self._command[0])
        return StackError(f"{program}: {what}", self._log.read_text(errors="replace").splitlines())

    def _read(self, answers: IO[str]) -> None:
        with answers:
            for line in answers:
                self._answers.put(line)
        self._answers.put(None)

    def _stop(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
