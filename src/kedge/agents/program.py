"""An external program that reads and writes lines on its standard input and output."""

import contextlib
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

from kedge.errors import InputError

_FAREWELL = 2.0  # seconds that a program has to quit


class LateError(InputError):
    """No answer came in time. Another try may take as long."""


class Program:
    """A process that reads and writes lines; it ends with its ``with`` block.

    Parameters
    ----------
    command
        The program and its arguments, such as ``["gnugo", "--mode", "gtp"]``.
    timeout
        Seconds that an answer may take. A program that takes longer is killed, because a late
        answer would be read as the answer to the next request.
    startup
        Seconds that its first line may take, if not `timeout`.
    """

    farewell = ""  #: Last line to send, if closing the input does not end the program.

    def __init__(
        self, command: Sequence[str], timeout: float, startup: float | None = None
    ) -> None:
        self.name = command[0]
        self._timeout = timeout
        self._patience = timeout if startup is None else startup  # seconds for the next line
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        with contextlib.ExitStack() as stack:
            self._stderr = stack.enter_context(tempfile.TemporaryFile())
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._stderr,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,  # Ctrl-C reaches only us, and we end the program
                )
            except OSError as error:
                raise InputError(f"{self.name}: cannot be started ({error.strerror})") from None
            stack.pop_all()
        # Reading a pipe has no timeout and a pipe can fill up; a queue avoids both.
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def write(self, line: str, request: str) -> None:
        """Send one line; raise an `InputError` that names the `request` if the program ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken, or was closed
            raise self._ended(request) from None

    def lines(self, request: str) -> Iterator[str]:
        """Yield the lines of an answer; raise a `LateError` or `InputError` if none come."""
        until = time.monotonic() + self._patience
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._kill()
                seconds = f"{self._patience:g} seconds"
                raise LateError(f"{self.name}: {request}: no answer in {seconds}") from None
            if line is None:
                raise self._ended(request)
            self._patience = self._timeout
            yield line

    def close(self) -> None:
        """End the program: ask it to quit, then kill it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(self.farewell)
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._kill()
        self._stderr.close()

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

    def _ended(self, request: str) -> InputError:
        """Return an error with the last line of the program's stderr, usually the reason."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # its output may close before it ends
            self._process.wait(_FAREWELL)
        if self._stderr.closed:
            reason = "was closed"
        else:
            self._stderr.seek(0)
            lines = self._stderr.read().decode("utf-8", "replace").split("\n")
            lines = [" ".join(line.split()) for line in lines if line.strip()]
            reason = f"ended with {self._process.poll()}"
            reason += f" ({lines[-1][:200]})" if lines else ""
        return InputError(f"{self.name}: {request}: the program {reason}")

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
