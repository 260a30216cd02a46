"""A ``kedge uci`` or ``kedge gtp`` process to talk to."""

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import chess

KEDGE = str(Path(sys.executable).with_name("kedge"))
MATE = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


class Session:
    """A process that is talked to line by line."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [KEDGE, *(arguments or ["uci"])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))

    def send(self, *lines):
        for line in lines:
            content = line if isinstance(line, bytes) else line.encode()
            self.process.stdin.write(content + b"\n")
        self.process.stdin.flush()

    def until(self, start, timeout=20.0):
        """Return the output up to a line with this beginning."""
        said, end = [], time.monotonic() + timeout
        while not said or not said[-1].startswith(start):
            said.append(self.lines.get(timeout=max(0.0, end - time.monotonic())))
        return said

    def ask(self, *lines, start="bestmove"):
        self.send(*lines)
        return self.until(start)

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(10)
        return code, self.process.stderr.read().decode()


def errors(said):
    return [line for line in said if line.startswith("info string error")]


def legal(said, board=None):
    move = said[-1].split()[1]
    assert chess.Move.from_uci(move) in (board or chess.Board()).legal_moves
    return move
