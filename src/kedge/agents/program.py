"""A program of others, talked to line by line over its standard input and output."""

import contextlib
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

from kedge.errors import InputError

_FAREWELL = 2.0  # seconds to quit in


class LateError(InputError):
    """No answer came in time: to ask again may take as long again."""


class Program:
    """A process that reads and writes lines; it ends with its ``with`` block.

    Parameters
    ----------
    command
        The program and its arguments, such as ``["gnugo", "--mode", "gtp"]``.
    timeout
        Seconds that an answer may take. A program that takes longer is ended: what it says next
        would be taken for the answer to something else.
    startup
        Seconds to its first word, where that takes longer.
    """

    farewell = ""  #: What it is told at the end, if its input is not simply closed.

    def __init__(
        self, command: Sequence[str], timeout: float, startup: float | None = None
    ) -> None:
        self.name = command[0]
        self._timeout = timeout
        self._patience = timeout if startup is None else startup  # for the next line
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        with contextlib.ExitStack() as stack:
            self._complaints = stack.enter_context(tempfile.TemporaryFile())
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._complaints,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,  # Ctrl-C is for us, who then end the program
                )
            except OSError as error:
                raise InputError(f"{self.name}: cannot be started ({error.strerror})") from None
            stack.pop_all()
        # A pipe has no timeout, and is full at some time; a queue has one, and never is.
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def write(self, line: str, asked: str) -> None:
        """One line; an `InputError` that tells what was `asked` if nobody reads it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken, or was closed
            raise self._ended(asked) from None

    def lines(self, asked: str) -> Iterator[str]:
        """The lines of an answer; a `LateError` or `InputError` if they never come."""
        until = time.monotonic() + self._patience
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._kill()
                seconds = f"{self._patience:g} seconds"
                raise LateError(f"{self.name}: {asked}: no answer in {seconds}") from None
            if line is None:
                raise self._ended(asked)
            self._patience = self._timeout
            yield line

    def close(self) -> None:
        """End the program, politely at first."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(self.farewell)
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._kill()
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line.rstrip())
        self._lines.put(None)

    def _ended(self, asked: str) -> InputError:
        """With the last that it had to say, which most often is why."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # its output may close before it ends
            self._process.wait(_FAREWELL)
        if self._complaints.closed:
            reason = "was closed"
        else:
            self._complaints.seek(0)
            said = self._complaints.read().decode("utf-8", "replace").split("\n")
            said = [" ".join(line.split()) for line in said if line.strip()]
            reason = f"ended with {self._process.poll()}"
            reason += f" ({said[-1][:200]})" if said else ""
        return InputError(f"{self.name}: {asked}: the program {reason}")

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
