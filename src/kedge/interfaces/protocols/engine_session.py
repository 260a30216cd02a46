"""The part that engine protocols share: lines in, lines out, and a thread that thinks."""

import contextlib
import io
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TextIO

from kedge.agents.board.engine import Control


class EngineSession(ABC):
    """A session with a program. This thread reads; a second one does long work."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._writing = threading.Lock()
        self._control: Control | None = None
        self._thread: threading.Thread | None = None

    @abstractmethod
    def _obey(self, line: str) -> bool:
        """Execute a line; return whether to go on."""

    def run(self, lines: Iterable[str]) -> None:
        """Execute `lines` until one of them ends the session."""
        try:
            for line in lines:
                if not self._obey(line):
                    break
        finally:
            self._finish()

    def _begin(self, think: Callable[[Control], None], control: Control) -> None:
        """Think in the second thread; `control` ends it."""
        self._control = control
        self._thread = threading.Thread(target=think, args=(control,), daemon=True)
        self._thread.start()

    def _is_thinking(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _finish(self) -> None:
        """End thinking and wait for its move."""
        if self._control is not None and self._thread is not None:
            self._control.stop()
            self._thread.join()
        self._control = self._thread = None

    def _say(self, text: str) -> None:
        # If the program has closed our output, its input ends soon too.
        with self._writing, contextlib.suppress(OSError):
            self._out.write(text + "\n")
            self._out.flush()


def printable(text: str) -> str:
    """Return the text on one line, without control characters."""
    line = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )


def talk(session: Callable[[TextIO], EngineSession]) -> None:
    """Run a session over standard input and output."""
    if not isinstance(sys.stdin, io.TextIOWrapper) or not isinstance(sys.stdout, io.TextIOWrapper):
        return  # closed
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    session(sys.stdout).run(iter(sys.stdin.readline, ""))
